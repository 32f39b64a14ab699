import type { Database } from '../../database/client.ts';
import type { MigrationState } from '../../database/migrate.ts';
import type { ServerState } from '../../database/server-state.ts';
import type { Config } from '../../settings.ts';

/**
 * How a check ended: `warning` for what works now and should be changed, `failure` for what keeps the gateway from working or
 * loses data, `skipped` for what cannot be checked, or does not apply.
 */
export type Status = 'ok' | 'warning' | 'failure' | 'skipped';

/** The result of a check. */
export interface Outcome {
  readonly status: Status;
  /** What was found. */
  readonly found: string;
  /** What to do about it; for warnings and failures. */
  readonly remedy?: string;
}

/** A database that accepts connections, and what was read from it. */
export interface ReachedDatabase {
  readonly database: Database;
  readonly state: ServerState;
  /** Set by the check of the migrations, if it could read them. */
  migrations?: MigrationState;
}

/** What checks are made of. */
export interface CheckContext {
  readonly environment: NodeJS.ProcessEnv;
  readonly config: Config;
  /** Such as `v22.12.0`. */
  readonly nodeVersion: string;
  /** This machine's time in milliseconds since 1970. */
  readonly now: () => number;
  /** Free space below which `disk` warns, and fails, in bytes. */
  readonly freeBytes: { readonly warning: number; readonly failure: number };
  /** The most files that a process may have open; that of this process if it is not given. */
  readonly maxOpenFiles?: number;
  /** How long a check may take. */
  readonly timeoutMs: number;
  /** The connections of the checks, which are closed at the end. Set by the check of the database. */
  opened?: Database;
  /** Set by the check of the database if it can be used. */
  reached?: ReachedDatabase;
}

/** A check. It changes nothing; what it throws is a failure. */
export type Check = (context: CheckContext) => Outcome | Promise<Outcome>;

/** Nothing to do. */
export const ok = (found: string): Outcome => ({ status: 'ok', found });
/** Works, and should be changed. */
export const warning = (found: string, remedy: string): Outcome => ({ status: 'warning', found, remedy });
/** Does not work, or loses data. */
export const failure = (found: string, remedy: string): Outcome => ({ status: 'failure', found, remedy });
/** Not checked. */
export const skipped = (found: string): Outcome => ({ status: 'skipped', found });

/** A check that needs the database. */
export const ofDatabase =
  (check: (reached: ReachedDatabase, context: CheckContext) => Outcome | Promise<Outcome>): Check =>
  (context) =>
    context.reached ? check(context.reached, context) : skipped('needs a database that accepts connections');

/** A number of bytes for people. */
export function describeBytes(bytes: number): string {
  const gibibytes = bytes / 2 ** 30;
  return gibibytes >= 1 ? `${gibibytes.toFixed(1)} GiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;
}

/** A count with its noun. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string => `${count} ${count === 1 ? noun : plural}`;
