import type { Caller } from '../domain/caller.ts';
import type { GatewayError } from '../domain/errors.ts';
import type { Db } from '../domain/user-groups.ts';

/** What resolvers are given beside their arguments. A new object for each request. */
export interface GraphQLContext {
  readonly db: Db;
  /** Who asks; nobody, when there is no credential. */
  readonly caller: Caller;
  /** Tells the log of a failure that is the gateway's own or the database's, under the request's id. */
  readonly report: (error: GatewayError) => void;
}
