import { isUnavailable } from './database/errors.ts';
import { MissingKey } from './encryption/keys.ts';
import { GatewayError, nothingChanged, safeToRepeat } from './errors.ts';

/**
 * Converts any error to a `GatewayError`: an expected one as is, an unreachable or busy database and a missing encryption key to
 * `UNAVAILABLE`, the rest to `INTERNAL`.
 */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isUnavailable(error)) {
    const message = `The database is unavailable. A requested change may have been made. ${safeToRepeat}`;
    return new GatewayError('UNAVAILABLE', message, { cause: error });
  }
  if (error instanceof MissingKey) {
    const effect = error.isUnchanged
      ? `${nothingChanged}It is safe to repeat.`
      : `A change without an Idempotency-Key may have been made. ${safeToRepeat}`;
    const message =
      `This gateway lacks the encryption key ${error.keyId}, which a stored value needs: the command doctor says where it belongs. ` +
      `${effect} Ask the operator to add the key.`;
    return new GatewayError('UNAVAILABLE', message, { cause: error });
  }
  return new GatewayError('INTERNAL', 'Internal error. The log has the cause under the request id.', { cause: error });
}
