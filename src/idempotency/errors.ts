import { isMissingKey } from '../encryption/keys.ts';
import { GatewayError } from '../errors.ts';
import { asGatewayError } from '../failures.ts';
import { idempotencyLimits } from './limits.ts';

const { maxStoredResponseBytes } = idempotencyLimits;

/** The error while a request with the same key is being executed. */
export const keyInUse = (): GatewayError =>
  new GatewayError(
    'IDEMPOTENCY_KEY_IN_USE',
    'A request with this Idempotency-Key is being executed. Send the same request again to get its response.',
  );

/** The error when another request had the key. */
export const keyReused = (): GatewayError =>
  new GatewayError(
    'IDEMPOTENCY_KEY_REUSED',
    'Another request had this Idempotency-Key within the last 24 hours. Nothing was changed. Use a new key for each request, and the ' +
      'same one only to send the same request again.',
  );

/** The error when the response to a request exceeds what is stored; its changes are undone. */
export const tooLargeToStore = (): GatewayError =>
  new GatewayError(
    'QUERY_TOO_COSTLY',
    `The response exceeds the limit of ${maxStoredResponseBytes} bytes for requests with an Idempotency-Key. Nothing was changed. Request ` +
      'fewer fields or items.',
  );

/** With a key, a request is safe to repeat when it is not known whether its change was made. */
export function asKeyedError(error: unknown): GatewayError {
  const known = asGatewayError(error);
  if (known.code !== 'UNAVAILABLE' || known.cause === undefined || isMissingKey(known)) return known;
  const message = 'The database is unavailable. The requested change may have been made.';
  return new GatewayError('UNAVAILABLE', `${message} Send the same request with the same Idempotency-Key again.`, {
    cause: known.cause,
  });
}
