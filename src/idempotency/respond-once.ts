import { GatewayError } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../http/types.ts';
import type { Services } from '../user-groups/user-groups.ts';
import type { ExecuteOnce } from './execute-once.ts';
import { idempotencyLimits } from './limits.ts';

const { maxIdempotencyKeyCharacters } = idempotencyLimits;

/** A key in the form of the draft: a string of RFC 8941. */
const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** A key as it is widely sent: printable characters without those that separate several values, or values and parameters. */
const bare = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/**
 * Reads the value of the header Idempotency-Key: a quoted string as in draft-ietf-httpapi-idempotency-key-header, or the same
 * text without quotes. The two are the same key.
 *
 * @throws GatewayError `INVALID_INPUT` when it is neither, also for several headers, or when the key has not 1 to 255 characters.
 */
export function parseIdempotencyKey(value: string): string {
  // The longest valid value has each character escaped, in quotes.
  const text = value.length <= 2 * maxIdempotencyKeyCharacters + 2 ? value : '';
  const key = quoted.exec(text)?.[1]?.replace(/\\(.)/g, '$1') ?? bare.exec(text)?.[0] ?? '';
  if (key.length >= 1 && key.length <= maxIdempotencyKeyCharacters) return key;
  throw new GatewayError(
    'INVALID_INPUT',
    `The header Idempotency-Key must be one key of 1 to ${maxIdempotencyKeyCharacters} printable ASCII characters, such as a UUID: ` +
      'in double quotes, or without quotes if it has no spaces, commas, semicolons, quotes or backslashes.',
  );
}

/** The header of a response that is the stored one of an earlier request. */
const replayedHeader = 'idempotency-replayed';

/** A response, and whether it is kept for requests with the same key. */
export interface KeyedResponse {
  readonly response: HttpResponse;
  /** If not, no change is kept either. */
  readonly isKept: boolean;
}

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
  const key = parseIdempotencyKey(request.idempotencyKey ?? '');
  const { response, isReplayed } = await executeOnce(request.caller, { key, content }, async (services) => {
    const { response: executed, isKept } = await execute(services);
    return { response: JSON.stringify(executed), isKept };
  });
  const { status, headers, body } = JSON.parse(response) as HttpResponse;
  return { status, headers: isReplayed ? { ...headers, [replayedHeader]: 'true' } : headers, body };
}
