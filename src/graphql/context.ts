import type { Context } from '../app.ts';
import type { Pause } from '../concurrency/heavy-work.ts';
import type { ErrorCode } from '../error-catalog.ts';
import type { GatewayError } from '../errors.ts';
import type { InstanceSource } from '../instance/instance.ts';
import type { MetricsSource } from '../metrics/request-metrics.ts';
import type { ResponseMeter } from './field-plugin.ts';

/** The context of the resolvers; one object per request. */
export interface GraphQLContext extends Context {
  /** Logs a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
  /** Counts an error that the response reports, for the metrics. */
  readonly countError: (code: ErrorCode) => void;
  /** The metrics of this instance. */
  readonly metrics: MetricsSource;
  /** What is known about this instance. */
  readonly instance: InstanceSource;
  /** What metrics and logs report of the operation; its execution fills it in. */
  readonly operationInfo: OperationInfo;
  /** Bounds the response. */
  readonly meter: ResponseMeter;
  /**
   * Lets others have the place of this request, if it has one in the queue of heavy work, while it waits for something. Undefined
   * if it must not wait: it has a place, and its operation has other fields, which would be executed without one.
   */
  readonly pause: Pause | undefined;
}

/** What metrics and logs report of the operation that a request executes. */
export interface OperationInfo {
  /** One of few names. */
  operation: string;
  cost: number | undefined;
  isMutation?: boolean;
  /** Whether a mutation threw an expected error: it changed nothing. */
  isRefused?: boolean;
}
