import type { Caller } from '../caller.ts';
import type { Pause } from '../concurrency/heavy-work.ts';
import type { ErrorCode } from '../error-catalog.ts';
import type { GatewayError } from '../errors.ts';
import type { InstanceSource } from '../instance/instance.ts';
import type { MetricsSource } from '../metrics/request-metrics.ts';
import type { Services } from '../user-groups/user-groups.ts';
import type { ResponseMeter } from './field-plugin.ts';

/** The context of the resolvers; one object per request. */
export interface GraphQLContext {
  readonly services: Services;
  /** The caller that sent the request; anonymous without a credential. */
  readonly caller: Caller;
  /** Logs a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
  /** Counts an error that the response reports, for the metrics. */
  readonly countError: (code: ErrorCode) => void;
  /** The metrics of this instance. */
  readonly metrics: MetricsSource;
  /** What is known about this instance. */
  readonly instance: InstanceSource;
  /** Whether the response is no longer needed, so that remaining work can be skipped. */
  readonly isAbandoned: () => boolean;
  /** What metrics and logs report of the operation; its execution fills it in. */
  readonly operationInfo: OperationInfo;
  /** Bounds the response. */
  readonly meter: ResponseMeter;
  /**
   * Whether the request holds a transaction, which the server would end if it waited for long: where others wait in a
   * queue, it has waited before.
   */
  readonly hasTransaction: boolean;
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
}
