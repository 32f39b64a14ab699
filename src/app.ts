import { type ApiTokenRecord, findApiTokens, findApiTokensOfSecrets } from './api-tokens/sql.ts';
import type { Feed } from './audit-log/feed.ts';
import type { Author } from './audit-log/statements/author.ts';
import type { Caller } from './caller.ts';
import { type Database, type Sql, sqlIn } from './database/client.ts';
import { retryOnConflict } from './database/errors.ts';
import { pageReads } from './database/page.ts';
import { type Read, sharedRead } from './database/shared-reads.ts';
import { findSigningKeys, findViewerGenerations, type SigningKey, type ViewerKey } from './embed-tokens/sql.ts';
import type { KeyRing } from './encryption/keys.ts';
import { abandoned } from './errors.ts';
import type { Prisma, PrismaClient, UserGroup } from './generated/prisma/client.ts';
import { findGroupsByProvidedId, findGroupsByTeamId, findGroupsOfTokens, type GroupOfToken } from './user-groups/sql.ts';

/** What lives as long as the process. */
export interface App extends AppOptions {
  readonly db: PrismaClient;
  readonly sql: Sql;
  readonly reads: Reads;
  readonly keys: KeyRing;
}

/** What a command has no use for. */
interface AppOptions {
  /** The URL of the gateway, without a slash at its end: the issuers of embed tokens begin with it. */
  readonly publicUrl: () => string;
  /** The private networks that webhooks may reach, as CIDRs. */
  readonly webhookNetworks: readonly string[];
  readonly feed: Feed;
  /** Records that a group was resolved by a token. */
  readonly noteResolved: (group: UserGroup) => void;
}

/** What an operation works with. In a transaction, `db`, `sql` and `reads` run in it, and see what it wrote. */
export interface Context {
  readonly app: App;
  readonly caller: Caller;
  readonly db: Prisma.TransactionClient;
  readonly sql: Sql;
  readonly reads: Reads;
  readonly isInTransaction?: boolean;
  /** Whether the response is no longer needed, so that remaining work can be skipped. */
  readonly isAbandoned: () => boolean;
}

/** The reads that requests share. */
export interface Reads {
  /** By the SHA-256 of a secret in hexadecimal, also one that a rotation replaced. Revoked and expired ones included. */
  readonly apiTokenOfSecret: Read<string, ApiTokenRecord>;
  /** By its number. */
  readonly apiToken: Read<number, ApiTokenRecord>;
  /** By the keyed hashes of a token in hexadecimal: one under each key. The tokens of a suspended group identify nothing. */
  readonly groupOfToken: Read<readonly string[], GroupOfToken>;
  /** One, or one of `Customer` and one of `Testing`. */
  readonly groupsByProvidedId: Read<string, readonly UserGroup[]>;
  readonly groupByTeamId: Read<number, UserGroup>;
  readonly signingKeys: Read<'all', readonly SigningKey[]>;
  /** The generation that the embed tokens of a viewer must have; none means any. */
  readonly viewerGeneration: Read<ViewerKey, number>;
}

const createReads = (sql: Sql, isShared: boolean): Reads => ({
  apiTokenOfSecret: sharedRead((hashes) => findApiTokensOfSecrets(sql, hashes), isShared),
  apiToken: sharedRead((ids) => findApiTokens(sql, ids), isShared),
  groupOfToken: sharedRead((hashes) => findGroupsOfTokens(sql, hashes), isShared),
  groupsByProvidedId: sharedRead((ids) => findGroupsByProvidedId(sql, ids), isShared),
  groupByTeamId: sharedRead((ids) => findGroupsByTeamId(sql, ids), isShared),
  signingKeys: sharedRead(async (all) => {
    const found = await findSigningKeys(sql);
    return all.map(() => found);
  }, isShared),
  viewerGeneration: sharedRead((viewers) => findViewerGenerations(sql, viewers), isShared),
});

/** Creates an app. */
export function createApp(database: Database, keys: KeyRing, options: Partial<AppOptions> = {}): App {
  return {
    db: database.prisma,
    sql: database.sql,
    reads: createReads(database.sql, true),
    keys,
    publicUrl: () => '',
    webhookNetworks: [],
    feed: { look: async () => undefined },
    noteResolved: () => {},
    ...options,
  };
}

/** The context of a caller's request or command. */
export const contextOf = (app: App, caller: Caller, isAbandoned = () => false): Context => ({
  app,
  caller,
  db: app.db,
  sql: app.sql,
  reads: app.reads,
  isAbandoned,
});

/**
 * Runs changes in a transaction, which the audit log attributes to the caller; once more after a deadlock. In a transaction they
 * run in that one.
 */
export function inTransaction<Result, Own extends Context>(
  context: Own,
  work: (context: Own) => Promise<Result>,
): Promise<Result> {
  if (context.isInTransaction) return work(context);
  return retryOnConflict(() =>
    context.app.db.$transaction(async (transaction) => {
      await setActor(transaction, context.caller.author);
      const sql = sqlIn(transaction);
      return work({ ...context, db: transaction, sql, reads: createReads(sql, false), isInTransaction: true });
    }, readCommitted),
  );
}

/** A client that stops in a transaction must not hold its locks. */
const setActor = (transaction: Prisma.TransactionClient, author: Author) => transaction.$executeRaw`
  select set_config('gateway.actor', ${JSON.stringify(author)}, true), set_config('idle_in_transaction_session_timeout', '5s', true)`;

/** Also if the server has another default: a transaction that waited for a lock must see the new rows. */
const readCommitted = { isolationLevel: 'ReadCommitted' } as const;

/** Reads when it is the caller's turn, so that connections remain for others; in a transaction, which has one, at once. */
export function readInTurn<Result>(context: Context, read: (context: Context) => Promise<Result>): Promise<Result> {
  if (context.isInTransaction) return read(context);
  return pageReads.run(context.caller.queueKey, async () => {
    if (context.isAbandoned()) throw abandoned();
    return read(context);
  });
}
