import pg from 'pg';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Sql } from './client.ts';
import type { Row } from './columns.ts';
import { isUnavailable, retryOnConflict } from './errors.ts';

/**
 * Ends a transaction without its changes and returns the connection. One that may still have the transaction is closed: what
 * others did on it would never be committed.
 */
export async function rollBack(client: pg.PoolClient): Promise<void> {
  const isBroken = await client.query('rollback').then(
    () => false,
    () => true,
  );
  client.release(isBroken);
}

/** The statements of a database, all in one transaction. They are executed one at a time. */
export interface Transaction {
  readonly prisma: PrismaClient;
  /** Runs a statement and returns its rows as text. */
  query(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  /** The same, with rows as objects. */
  readonly sql: Sql;
  /** Runs statements between which no other one is executed; all of them are undone if one fails. */
  transaction<Result>(work: (query: Transaction['query']) => Promise<Result>): Promise<Result>;
}

/** How a transaction uses its connection. */
export interface TransactionOptions {
  readonly pool: pg.Pool;
  /** The text that begins the transaction. */
  readonly begin: string;
  /** How statements are sent to a connection. */
  readonly queryOn: (client: pg.PoolClient) => Transaction['query'];
  readonly sqlOn: (client: pg.PoolClient) => Sql;
  /** Creates a Prisma client on what looks like a pool. */
  readonly createPrisma: (connections: pg.Pool) => PrismaClient;
}

/** Runs work in one transaction and commits it, unless it throws. */
export async function runTransaction<Result>(
  options: TransactionOptions,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const client = await options.pool.connect();
  const query = options.queryOn(client);
  const sql = options.sqlOn(client);
  const statements = new Statements(client, options.begin);
  let prisma: PrismaClient | undefined;
  try {
    const result = await work({
      query: (...statement) => statements.undoable(() => query(...statement)),
      sql: (...statement) => statements.undoable(() => sql(...statement)),
      transaction: (inner) => statements.undoable(() => inner(query)),
      // Created on first use: it takes milliseconds, and most work does without.
      get prisma() {
        prisma ??= options.createPrisma(new SingleConnectionPool(client, statements));
        return prisma;
      },
    });
    await statements.end();
    statements.assertUsable();
    const { command } = await client.query('commit');
    // The server responds so, without an error, when a statement failed and was not undone.
    if (command !== 'COMMIT') throw new Error('The transaction could not be committed: a statement in it had failed.');
    client.release();
    return result;
  } catch (error) {
    await statements.end();
    // A connection that may be busy or broken is closed, so that the server rolls back.
    if (statements.isUsable && !isUnavailable(error)) await rollBack(client);
    else client.release(true);
    throw error;
  } finally {
    await prisma?.$disconnect();
  }
}

/** The statements of a transaction, one at a time, each in a savepoint: the savepoints of concurrent statements would overlap. */
class Statements {
  /** Why the connection may still be busy, or is gone. */
  private failure: unknown;
  private readonly client: pg.PoolClient;
  private isOver = false;
  private hasSavepoint = false;
  private last: Promise<unknown>;

  constructor(client: pg.PoolClient, begin: string) {
    this.client = client;
    this.last = client.query(begin).catch(this.fail);
  }

  /** Has all that comes later fail: it would be executed outside of the transaction. */
  private readonly fail = (error: unknown): void => {
    this.failure ??= error;
  };

  /** Whether the connection can still be used. */
  get isUsable(): boolean {
    return this.failure === undefined;
  }

  /** @throws the error after which the connection cannot be used. */
  assertUsable(): void {
    if (!this.isUsable) throw this.failure;
  }

  /** Runs statements that are undone if they fail; after a deadlock, retried once. */
  undoable<Result>(send: () => Promise<Result>): Promise<Result> {
    return retryOnConflict(() => this.exclusively(() => this.inSavepoint(send)));
  }

  /**
   * Waits for what was begun before. Takes no more statements: what comes too late must not be executed outside the transaction.
   */
  async end(): Promise<void> {
    this.isOver = true;
    await this.last;
  }

  /** Runs `work` when everything that was begun before is over. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isOver) return Promise.reject(new Error('The transaction of this statement is over.'));
    const result = this.last.then(async () => {
      this.assertUsable();
      // Not waited for: the server refuses what follows, if it fails.
      const save = this.hasSavepoint ? 'release savepoint statement; savepoint statement' : 'savepoint statement';
      this.client.query(save).catch(this.fail);
      this.hasSavepoint = true;
      return work();
    });
    this.last = result.catch(() => {});
    return result;
  }

  private async inSavepoint<Result>(send: () => Promise<Result>): Promise<Result> {
    try {
      return await send();
    } catch (error) {
      await this.undo(error);
      throw error;
    }
  }

  private async undo(error: unknown): Promise<void> {
    try {
      // What is not from the server is from the connection, which then may be busy with the statement.
      if (isUnavailable(error) && !(error instanceof pg.DatabaseError)) this.failure = error;
      else await this.client.query('rollback to savepoint statement');
    } catch {
      this.failure = error;
    }
  }
}

/** What Prisma sends around its transactions, and what takes its place inside of another one. */
const nested: ReadonlyMap<string, string> = new Map([
  ['BEGIN', 'savepoint prisma'],
  ['COMMIT', 'release savepoint prisma'],
  ['ROLLBACK', 'rollback to savepoint prisma'],
]);

type Query = pg.QueryArrayConfig;

/** The one connection of a transaction, as the pool that Prisma's adapter takes. */
class SingleConnectionPool extends pg.Pool {
  private readonly client: pg.PoolClient;
  private readonly statements: Statements;

  constructor(client: pg.PoolClient, statements: Statements) {
    super({ max: 1 }); // never connects
    this.client = client;
    this.statements = statements;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's declaration has overloads; the adapter uses one of them
  override query(query: any): any {
    return this.statements.undoable(() => this.client.query(query as Query));
  }

  /** A transaction of Prisma's: nothing else is sent until it ends. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  override connect(): any {
    const { client, statements } = this;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    return new Promise((resolve, reject) => {
      statements
        .exclusively(async () => {
          resolve({
            query: (query: Query) => {
              const text = nested.get(query.text);
              return text === undefined ? client.query(query) : client.query(text);
            },
            on: () => {},
            removeListener: () => {},
            release: () => release(),
          });
          await held;
        })
        .catch(reject);
    });
  }
}
