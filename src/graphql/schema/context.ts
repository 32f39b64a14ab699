import type { Caller } from '../../domain/caller.ts';
import type { GatewayError } from '../../domain/errors.ts';
import type { Db } from '../../domain/user-groups.ts';
import { ResponseMeter } from './response-meter.ts';

/** The context of the resolvers; one object per request. */
export interface GraphQLContext {
  readonly db: Db;
  /** The caller that sent the request; anonymous without a credential. */
  readonly caller: Caller;
  /** Logs a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
  /** Whether the response is no longer needed, so that remaining work can be skipped. */
  readonly isAbandoned: () => boolean;
  /** Bounds the response. */
  readonly meter: ResponseMeter;
}

/** The context of one request. */
export function createContext({ db, caller, report, isAbandoned = never }: ContextOptions): GraphQLContext {
  return { db, caller, report, isAbandoned, meter: new ResponseMeter() };
}

/** What a context is made from; a request is never abandoned where nothing is said of it. */
type ContextOptions = Omit<GraphQLContext, 'meter' | 'isAbandoned'> & Partial<Pick<GraphQLContext, 'isAbandoned'>>;

const never = (): boolean => false;
