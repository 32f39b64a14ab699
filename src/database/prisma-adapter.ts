import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlQuery, SqlQueryable } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { repeatOnConflict } from './errors.ts';
import { textRows } from './text-rows.ts';

/**
 * Prisma's adapter, made independent of the session. The original writes times without their offset and drops the offset
 * of those it reads, which is right only in a session whose time zone is UTC; behind a pooler no session can be set up.
 * What it sends is corrected here, what it reads in {@link SessionlessClient}.
 *
 * A statement outside a transaction that failed by a deadlock or a serialization failure is repeated once.
 */
export class SessionlessPrismaPg extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const startTransaction = adapter.startTransaction.bind(adapter);
    sendOffsets(adapter, repeatOnConflict);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel);
      sendOffsets(transaction, (send) => send());
      return transaction;
    };
    return adapter;
  }
}

type Attempt = <Result>(send: () => Promise<Result>) => Promise<Result>;

/** Changes how `target` sends statements: times with their offset, and as `attempt` says. */
function sendOffsets(target: SqlQueryable, attempt: Attempt): void {
  const queryRaw = target.queryRaw.bind(target);
  const executeRaw = target.executeRaw.bind(target);
  target.queryRaw = (query) => attempt(() => queryRaw(withOffsets(query)));
  target.executeRaw = (query) => attempt(() => executeRaw(withOffsets(query)));
}

/** The same statement with its times as text in ISO 8601 with `Z`, declared as text so that the adapter leaves them alone. */
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

/** A connection on which a `timestamptz` that Prisma reads is converted to UTC, whatever the session's time zone is. */
export class SessionlessClient extends pg.Client {
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
