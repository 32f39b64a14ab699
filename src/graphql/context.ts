import type { Caller } from '../caller.ts';
import type { ErrorCode } from '../error-catalog.ts';
import type { GatewayError } from '../errors.ts';
import type { InstanceReport, InstanceSource } from '../instance/instance.ts';
import { type MetricsSource, reportOf } from '../metrics/report.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { ResponseMeter } from './response-meter.ts';

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
}

/** What metrics and logs report of the operation that a request executes. */
export interface OperationInfo {
  /** One of few names. */
  operation: string;
  cost: number | undefined;
  isMutation?: boolean;
}

/** The parts of a request from which its context is made. */
export type ContextRequest = Pick<GraphQLContext, 'caller' | 'report' | 'countError' | 'isAbandoned'> &
  OperationInfo & { readonly responseRoom: () => number };

/**
 * Creates the context of a request.
 *
 * @param services those of its transaction, if it has one.
 * @param countError counts its error codes, if the request is not to.
 */
export type ContextOf = (
  request: ContextRequest,
  services?: Services,
  countError?: GraphQLContext['countError'],
) => GraphQLContext;

/** The context of one request. */
export function createContext(options: ContextOptions): GraphQLContext {
  const { services, caller, report, isAbandoned = never, countError = ignore, metrics = nothingCounted } = options;
  const {
    instance = noInstance,
    operationInfo = { operation: '', cost: undefined },
    hasTransaction = false,
    meter = new ResponseMeter(),
  } = options;
  return { services, caller, report, isAbandoned, countError, metrics, instance, operationInfo, meter, hasTransaction };
}

/** What a context is made from: without a transport, a request is never abandoned, and nothing is counted. */
type ContextOptions = Pick<GraphQLContext, 'services' | 'caller' | 'report'> &
  Partial<
    Pick<GraphQLContext, 'isAbandoned' | 'countError' | 'metrics' | 'instance' | 'operationInfo' | 'hasTransaction' | 'meter'>
  >;

const never = (): boolean => false;
const ignore = (): void => {};
const emptyReport = reportOf([], Date.now(), Date.now());
const nothingCounted: MetricsSource = { read: () => emptyReport };
const emptyInstance: InstanceReport = {
  version: '',
  startedAt: new Date(),
  database: { isEmbedded: false, facts: undefined, migrations: 0 },
};
const noInstance: InstanceSource = { read: async () => emptyInstance };

/**
 * Whether a root field may be read without an API token: those of introspection. The domain decides which scopes the others
 * require.
 */
export const isOpenRootField = (name: string): boolean => name.startsWith('__');
