import type { Caller } from '../../domain/caller.ts';
import type { ErrorCode, GatewayError } from '../../domain/errors.ts';
import type { Db } from '../../domain/user-groups.ts';
import { type MetricsSource, reportOf } from '../../metrics/report.ts';
import { ResponseMeter } from './response-meter.ts';

/** The context of the resolvers; one object per request. */
export interface GraphQLContext {
  readonly db: Db;
  /** The caller that sent the request; anonymous without a credential. */
  readonly caller: Caller;
  /** Logs a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
  /** Counts an error that the response reports, for the metrics. */
  readonly countError: (code: ErrorCode) => void;
  /** The metrics of this instance. */
  readonly metrics: MetricsSource;
  /** Whether the response is no longer needed, so that remaining work can be skipped. */
  readonly isAbandoned: () => boolean;
  /** Where the executed operation is noted, for metrics and logs. */
  readonly noted: NotedOperation;
  /** Bounds the response. */
  readonly meter: ResponseMeter;
}

/** What is noted of the operation that a request executes. */
export interface NotedOperation {
  /** One of few names. */
  operation: string;
  cost: number | undefined;
}

/** The context of one request. */
export function createContext(options: ContextOptions): GraphQLContext {
  const { db, caller, report, isAbandoned = never, countError = ignore, metrics = nothingCounted } = options;
  const { noted = { operation: '', cost: undefined } } = options;
  return { db, caller, report, isAbandoned, countError, metrics, noted, meter: new ResponseMeter() };
}

/** What a context is made from: without a transport, a request is never abandoned, and nothing is counted. */
type ContextOptions = Pick<GraphQLContext, 'db' | 'caller' | 'report'> &
  Partial<Pick<GraphQLContext, 'isAbandoned' | 'countError' | 'metrics' | 'noted'>>;

const never = (): boolean => false;
const ignore = (): void => {};
const emptyReport = reportOf([], Date.now(), Date.now());
const nothingCounted: MetricsSource = { read: () => emptyReport };
