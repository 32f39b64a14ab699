import type { Context } from '../app.ts';
import type { HttpRequest } from '../http/types.ts';
import type { InstanceSource } from '../instance/instance.ts';
import type { MetricsSource } from '../metrics/request-metrics.ts';

/** The context of the resolvers; one object per request. */
export interface GraphQLContext extends Context {
  readonly http: HttpRequest;
  readonly metrics: MetricsSource;
  readonly instance: InstanceSource;
  /** Set when an operation begins. */
  isMutation?: boolean;
  /** Set when a mutation returns an expected error: it changed nothing. */
  outcome?: 'refused';
}
