import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/client.ts';
import { isMigrated } from '../database/migrate.ts';
import { type DatabaseFacts, readDatabaseFacts } from '../database/server-state.ts';
import type { KeyRing } from '../encryption/keys.ts';

/** What is known about an instance of the gateway. */
export interface InstanceReport {
  /** Of the gateway. */
  readonly version: string;
  /** When this process began to serve. */
  readonly startedAt: Date;
  readonly database: DatabaseReport;
}

/** What is known about its database. */
export interface DatabaseReport {
  /** Whether the gateway itself runs the database server. */
  readonly isEmbedded: boolean;
  /** Nothing while the database cannot be reached, or takes longer than two seconds. */
  readonly facts: DatabaseFacts | undefined;
  /** How many migrations this version has. */
  readonly migrations: number;
}

/** Where the report of an instance is read. */
export interface InstanceSource {
  /** Never rejects. */
  read(): Promise<InstanceReport>;
}

/** What does not change while an instance runs. */
export interface InstanceOptions {
  readonly version: string;
  /** The names of the migrations of this version. */
  readonly migrations: readonly string[];
}

/** How long a report, and `/readyz`, wait for the database. */
const timeoutMs = 2_000;

/**
 * Creates the source of an instance that starts now. However many reports are requested, the database is asked once at a time.
 */
export function instanceSource(database: Database, { version, migrations }: InstanceOptions): InstanceSource {
  const startedAt = new Date();
  const { isEmbedded } = database;
  let pending: Promise<DatabaseFacts | undefined> | undefined;
  const readFacts = (): Promise<DatabaseFacts | undefined> => {
    pending ??= readDatabaseFacts(database, migrations)
      .catch(() => undefined)
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  return {
    async read() {
      const facts = await Promise.race([readFacts(), sleep(timeoutMs, undefined, { ref: false })]);
      return { version, startedAt, database: { isEmbedded, facts, migrations: migrations.length } };
    },
  };
}

/** Why the gateway cannot serve; nothing if it can. Never rejects. */
export async function unreadiness(database: Database, keys: KeyRing): Promise<string | undefined> {
  const read = async () => ((await isMigrated(database)) ? undefined : 'the database has pending migrations');
  const check = read().catch(() => 'the database is unreachable');
  const problem = await Promise.race([check, sleep(timeoutMs, 'the database does not respond', { ref: false })]);
  if (problem !== undefined || keys.missing === undefined) return problem;
  return `the encryption key ${keys.missing} is missing: the command doctor says where it belongs`;
}
