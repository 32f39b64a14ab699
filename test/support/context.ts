import type { Context } from '../../src/app.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';
import { ResponseMeter } from '../../src/graphql/field-plugin.ts';
import { reportOf } from '../../src/metrics/request-metrics.ts';

/** One time, so that two executions respond alike. */
const now = new Date();

/** The context of a request without a transport: it is never abandoned, and nothing is reported or counted. */
export function createContext(
  context: Context,
  operationInfo: GraphQLContext['operationInfo'] = { operation: '', cost: undefined },
): GraphQLContext {
  const database = { isEmbedded: false, facts: undefined, migrations: 0 };
  return {
    ...context,
    operationInfo,
    report: () => {},
    countError: () => {},
    metrics: { read: () => reportOf([], now.getTime(), now.getTime()) },
    instance: { read: async () => ({ version: '', startedAt: now, database }) },
    meter: new ResponseMeter(() => Number.POSITIVE_INFINITY),
    pause: (wait) => wait(),
  };
}
