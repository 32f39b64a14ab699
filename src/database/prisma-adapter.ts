import { PrismaPg } from '@prisma/adapter-pg';
import { isDriverAdapterError, type SqlQueryable } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { connectionFailure, retryOnConflict } from './errors.ts';
import type { StatementNames } from './statement-names.ts';

/**
 * Prisma's adapter, for sessions in UTC, as the original assumes. A statement outside a transaction that fails with a deadlock or
 * a serialization failure is retried once. Errors of the server and of connections have the codes of the driver's, which Prisma
 * has for some kinds only.
 */
export class RetryingPrismaPg extends PrismaPg {
  private readonly names: StatementNames | undefined;

  /** @param names those of the statements; without them, none is prepared. */
  constructor(pool: pg.Pool, names: StatementNames | undefined) {
    super(pool, names ? { statementNameGenerator: ({ sql }) => names.ofText(sql) as string } : {});
    this.names = names;
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const startTransaction = adapter.startTransaction.bind(adapter);
    const once: Attempt = (send) => (this.names ? this.names.renewAfter(() => coded(send)) : coded(send));
    sendThrough(adapter, (send) => retryOnConflict(() => once(send)));
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await coded(() => startTransaction(isolationLevel));
      sendThrough(transaction, once);
      return transaction;
    };
    return adapter;
  }
}

/** Kinds of errors of a socket. The adapter keeps only the kind. */
const connectionKinds: readonly string[] = ['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout'];

/** Calls a method of the adapter. What it throws in place of an error of the driver becomes one again: Prisma passes it on. */
async function coded<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!isDriverAdapterError(error)) throw error;
    const { kind, originalCode, originalMessage } = error.cause;
    const code = originalCode ?? (connectionKinds.includes(kind) ? connectionFailure : undefined);
    throw code === undefined ? error : Object.assign(new Error(originalMessage ?? kind, { cause: error }), { code });
  }
}

type Attempt = <Result>(send: () => Promise<Result>) => Promise<Result>;

/** Has `target` send each statement through `attempt`. */
function sendThrough(target: SqlQueryable, attempt: Attempt): void {
  const queryRaw = target.queryRaw.bind(target);
  const executeRaw = target.executeRaw.bind(target);
  target.queryRaw = (query) => attempt(() => queryRaw(query));
  target.executeRaw = (query) => attempt(() => executeRaw(query));
}
