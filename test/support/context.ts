import type { Context } from '../../src/app.ts';
import type { GraphQLContext } from '../../src/graphql/builder.ts';
import { reportOf } from '../../src/metrics/request-metrics.ts';

const now = new Date();

/** The context of a GraphQL request without a transport: nothing is reported or counted. */
export function createContext(context: Context): GraphQLContext {
  const database = { isEmbedded: false, facts: undefined, migrations: 0 };
  return {
    ...context,
    http: {
      operation: '',
      cost: undefined,
      waitedMs: 0,
      report: () => {},
      countError: () => {},
    } as unknown as GraphQLContext['http'],
    metrics: { read: () => reportOf([], now.getTime(), now.getTime()) },
    instance: { read: async () => ({ version: '', startedAt: now, database }) },
  };
}
