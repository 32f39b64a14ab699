import DataLoader from 'dataloader';
import { type ApiTokenRecord, findApiTokens, findApiTokensOfSecrets } from './api-tokens/authenticate.ts';
import type { Feed } from './audit-log/feed.ts';
import type { Author, Caller } from './caller.ts';
import { Semaphore } from './concurrency.ts';
import { type Database, type Sql, sqlIn } from './database/client.ts';
import { isStatementTimeout, retryOnConflict } from './database/errors.ts';
import { findSigningKeys, findViewerGenerations, type SigningKey, type ViewerKey } from './embed-tokens/sql.ts';
import type { KeyRing } from './encryption/keys.ts';
import { abandoned, GatewayError } from './errors.ts';
import type { Prisma, PrismaClient, UserGroup } from './generated/prisma/client.ts';
import { type LastHour, metrics, startLastHour } from './metrics.ts';
import { findGroupsByProvidedId, findGroupsByTeamId, findGroupsOfTokens, type GroupOfToken } from './user-groups/sql.ts';

/** What lives as long as the process. */
export interface App extends AppOptions {
  readonly db: PrismaClient;
  readonly sql: Sql;
  /** Stopped after two seconds. */
  readonly slowSql: Sql;
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
  readonly noteResolved: (teamId: number) => void;
  readonly lastHour: LastHour;
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
    slowSql: database.slowSql,
    reads: createReads(database.sql, true),
    keys,
    publicUrl: () => '',
    webhookNetworks: [],
    feed: { look: async () => undefined },
    noteResolved: () => {},
    lastHour: startLastHour(),
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

/** Leaves connections for other requests. By the API token. */
const listReads = new Semaphore<number | undefined>(4, 250);

/** Reads when it is the caller's turn; in a transaction, which has a connection, at once. */
export function readInTurn<Result>(context: Context, read: (context: Context) => Promise<Result>): Promise<Result> {
  if (context.isInTransaction) return read(context);
  return listReads.run(context.caller.queueKey, async () => {
    if (context.isAbandoned()) throw abandoned();
    return read(context);
  });
}

/**
 * Runs a statement of a list when it is the caller's turn.
 *
 * @param options `name` as for {@link Sql}; without one, the statement is planned for its values.
 * @throws GatewayError `UNAVAILABLE` when a slow one takes longer than two seconds; its cause is the database's error.
 */
export async function readRows<Row extends object>(
  context: Context,
  { text, values }: Prisma.Sql,
  { isSlow, name = '' }: { readonly isSlow: boolean; readonly name?: string },
): Promise<Row[]> {
  try {
    return await readInTurn(context, ({ app, sql, isInTransaction }) =>
      (isSlow && !isInTransaction ? app.slowSql : sql)<Row>(name, text, values),
    );
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const message = 'Reading the list took longer than 2 seconds and was stopped. Narrow the filter.';
    throw new GatewayError('UNAVAILABLE', message, { cause: error });
  }
}

/** Counts by a statement; null when that takes longer than two seconds. */
export async function countInTime(context: Context, statement: Prisma.Sql): Promise<number | null> {
  try {
    return (await readRows<{ count: number }>(context, statement, { isSlow: true }))[0]?.count ?? 0;
  } catch (error) {
    if (isStatementTimeout((error as Error).cause)) return null;
    throw error;
  }
}

/** Reads what belongs to a key; undefined if there is nothing. */
export type Read<Key, Value> = (key: Key) => Promise<Value | undefined>;

/** The most keys of a statement: enough for every request of a turn, small enough not to hold up other statements. */
const maxKeys = 512;

/**
 * A read that requests share: keys that are asked for in one turn of the event loop are read in one statement. It is no cache:
 * every value is read after it was asked for.
 *
 * @param load takes keys, also the same one twice, and returns the value of each, in their order.
 * @param isShared false in a transaction, which one request has: each key is read by itself.
 */
function sharedRead<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly (Value | undefined)[]>,
  isShared: boolean,
): Read<Key, Value> {
  if (!isShared) return async (key) => (await load([key]))[0];
  const loadAll = (keys: readonly Key[]) => {
    metrics.batchSize.observe(keys.length);
    return load(keys);
  };
  const loader = new DataLoader<Key, Value | undefined>(loadAll, {
    cache: false,
    maxBatchSize: maxKeys,
    batchScheduleFn: setImmediate,
  });
  return (key) => loader.load(key);
}
