import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlQuery, SqlQueryable } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { retryOnConflict } from './errors.ts';
import { textRows } from './text-rows.ts';

/**
 * Prisma's adapter, independent of the session's time zone. The original omits the offset of times that it writes and ignores
 * the offset of those it reads, which is correct only if the session's time zone is UTC; behind a pooler it cannot be set.
 * This class corrects what Prisma sends, {@link SessionlessClient} what it reads.
 *
 * A statement outside a transaction that fails with a deadlock or a serialization failure is retried once.
 */
export class SessionlessPrismaPg extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const startTransaction = adapter.startTransaction.bind(adapter);
    sendOffsets(adapter, retryOnConflict);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel);
      sendOffsets(transaction, (send) => send());
      return transaction;
    };
    return adapter;
  }
}

type Attempt = <Result>(send: () => Promise<Result>) => Promise<Result>;

/** Changes how `target` sends statements: times with their offset, and each statement through `attempt`. */
function sendOffsets(target: SqlQueryable, attempt: Attempt): void {
  const queryRaw = target.queryRaw.bind(target);
  const executeRaw = target.executeRaw.bind(target);
  target.queryRaw = (query) => attempt(() => queryRaw(withOffsets(query)));
  target.executeRaw = (query) => attempt(() => executeRaw(withOffsets(query)));
}

/** The statement with its times as text in ISO 8601 with `Z`, declared as text so that the adapter does not change them. */
function withOffsets(query: SqlQuery): SqlQuery {
  const { args, argTypes } = query;
  if (!argTypes.some(({ scalarType }) => scalarType === 'datetime')) return query;
  return {
    ...query,
    args: args.map((value, index) => (argTypes[index]?.scalarType === 'datetime' ? asInstant(value) : value)),
    argTypes: argTypes.map((type) => (type.scalarType === 'datetime' ? { arity: type.arity, scalarType: 'string' } : type)),
  };
}

function asInstant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asInstant);
  return value instanceof Date || typeof value === 'string' ? new Date(value).toISOString() : value;
}

const { TIMESTAMPTZ } = pg.types.builtins;
const parseTime = pg.types.getTypeParser(TIMESTAMPTZ);
const toUtc = (text: string): string => {
  const time: unknown = parseTime(text);
  return time instanceof Date ? time.toISOString() : text; // `infinity` is no Date
};

/** A connection that converts each `timestamptz` that Prisma reads to UTC, regardless of the session's time zone. */
export class SessionlessClient extends pg.Client {
  /** What the driver sends when it connects. */
  getStartupConf(): object {
    // Times are read as ISO 8601 writes them, whatever the database, the role or the server is set to. Poolers pass this one on.
    // @ts-expect-error: the driver's types do not declare this method, which its `connect` calls
    return { ...super.getStartupConf(), datestyle: 'ISO' };
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's own declaration has nine overloads; this one only passes on
  override query(statement: any, ...rest: any[]): any {
    const types = statement?.types;
    if (types && types !== textRows.types) {
      const getTypeParser = (oid: number, format: 'text') => (oid === TIMESTAMPTZ ? toUtc : types.getTypeParser(oid, format));
      return super.query({ ...statement, types: { getTypeParser } }, ...(rest as []));
    }
    return super.query(statement, ...(rest as []));
  }
}
