import type { Context } from '../../src/app.ts';
import type { GraphQLContext } from '../../src/graphql/builder.ts';

/** The context of a GraphQL request without a transport: nothing is reported or counted. */
export function createContext(context: Context): GraphQLContext {
  return {
    ...context,
    http: {
      operation: '',
      waitedMs: 0,
      report: () => {},
      countError: () => {},
    } as unknown as GraphQLContext['http'],
  };
}
