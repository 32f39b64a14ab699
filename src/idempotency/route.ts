import type { HttpRequest, HttpResponse } from '../http/types.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { type ExecuteOnce, parseIdempotencyKey } from './idempotency.ts';

/** The request header with the key, as Node.js names it. */
const idempotencyKeyHeader = 'idempotency-key';

/** The header of a response that is the stored one of an earlier request. */
const replayedHeader = 'idempotency-replayed';

/** A response, and whether it is kept for requests with the same key. */
export interface KeyedResponse {
  readonly response: HttpResponse;
  /** If not, no change is kept either. */
  readonly isKept: boolean;
}

/** Whether a request has an Idempotency-Key, and an API token that the key can belong to. */
export const hasIdempotencyKey = ({ headers, caller }: Pick<HttpRequest, 'headers' | 'caller'>): boolean =>
  headers[idempotencyKeyHeader] !== undefined && caller.apiToken !== undefined;

/**
 * Responds to a request with an Idempotency-Key: executes it, or sends the response of the first one again, with the status and
 * the body that it had, and the header `Idempotency-Replayed: true`.
 *
 * @param content what identifies the request: method, path, and all else that its effect depends on.
 * @param execute executes the request with the services of its transaction.
 * @throws GatewayError `INVALID_INPUT` when the key is malformed; what {@link ExecuteOnce} and `execute` throw.
 */
export async function respondOnce(
  executeOnce: ExecuteOnce,
  request: HttpRequest,
  content: string,
  execute: (services: Services) => Promise<KeyedResponse>,
): Promise<HttpResponse> {
  const key = parseIdempotencyKey(request.headers[idempotencyKeyHeader] as string);
  const { response, isReplayed } = await executeOnce(request.caller, { key, content }, async (services) => {
    const { response: executed, isKept } = await execute(services);
    return { response: JSON.stringify(executed), isKept };
  });
  const { status, headers, body } = JSON.parse(response) as HttpResponse;
  return { status, headers: isReplayed ? { ...headers, [replayedHeader]: 'true' } : headers, body };
}
