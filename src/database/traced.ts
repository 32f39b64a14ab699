import type { Tracing } from '../tracing/tracing.ts';
import type { Database, Sql } from './client.ts';

/** The same database with a span for each statement, named like it. */
export function traceStatements(database: Database, tracing: Tracing): Database {
  const traced =
    (sql: Sql): Sql =>
    (name, text, values) =>
      tracing.statement(name, () => sql(name, text, values));
  const prisma = database.prisma.$extends({
    query: {
      $allOperations: ({ model = 'prisma', operation, args, query }) =>
        tracing.statement(`${model}.${operation}`, async () => query(args)),
    },
  });
  return {
    ...database,
    // It lacks only what adds listeners, which nothing uses.
    prisma: prisma as unknown as Database['prisma'],
    sql: traced(database.sql),
  };
}
