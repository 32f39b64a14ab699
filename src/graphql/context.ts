import type { Caller } from '../domain/caller.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { Db } from '../domain/user-groups.ts';
import { ResponseMeter } from './response-meter.ts';

/** What resolvers are given beside their arguments. A new object for each request. */
export interface GraphQLContext {
  readonly db: Db;
  /** Who sent the request; anonymous, when there is no credential. */
  readonly caller: Caller;
  /** Logs a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
  /** Bounds the response. */
  readonly meter: ResponseMeter;
}

/** The context of one request. */
export function createContext({ db, caller, report }: Omit<GraphQLContext, 'meter'>): GraphQLContext {
  return { db, caller, report, meter: new ResponseMeter() };
}
