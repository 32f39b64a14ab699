import { PrismaPg } from '@prisma/adapter-pg';
import {
  isDriverAdapterError,
  type SqlDriverAdapterFactory,
  type SqlQuery,
  type SqlQueryable,
} from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { connectionFailure, retryOnConflict } from './errors.ts';
import type { StatementNames } from './statement-names.ts';

/**
 * Prisma's adapter for `pg`. A statement outside a transaction that fails with a deadlock or a serialization failure is retried
 * once. Errors of the server and of connections have the codes of the driver's, which Prisma has for some kinds only.
 *
 * @param names those of the statements; without them, none is prepared.
 */
export function createAdapter(pool: pg.Pool, names: StatementNames | undefined): SqlDriverAdapterFactory {
  const driver = new PrismaPg(pool, names ? { statementNameGenerator: ({ sql }) => names.ofText(sql) as string } : {});
  const once: Attempt = (send) => (names ? names.renewAfter(() => coded(send)) : coded(send));
  return {
    provider: driver.provider,
    adapterName: driver.adapterName,
    async connect() {
      const adapter = await driver.connect();
      return {
        ...statementsOf(adapter, (send) => retryOnConflict(() => once(send))),
        executeScript: (script) => adapter.executeScript(script),
        async startTransaction(isolationLevel) {
          const transaction = await coded(() => adapter.startTransaction(isolationLevel));
          return {
            ...statementsOf(transaction, once),
            options: transaction.options,
            commit: () => transaction.commit(),
            rollback: () => transaction.rollback(),
          };
        },
        getConnectionInfo: () => adapter.getConnectionInfo(),
        dispose: () => adapter.dispose(),
      };
    },
  };
}

type Attempt = <Result>(send: () => Promise<Result>) => Promise<Result>;

/** What sends each statement of `target` through `attempt`. */
const statementsOf = (target: SqlQueryable, attempt: Attempt): SqlQueryable => ({
  provider: target.provider,
  adapterName: target.adapterName,
  queryRaw: (query: SqlQuery) => attempt(() => target.queryRaw(query)),
  executeRaw: (query: SqlQuery) => attempt(() => target.executeRaw(query)),
});

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
