import { errorCatalog, GatewayError, safeToRepeat } from '../domain/errors.ts';
import { httpLimits, httpTimeouts } from './limits.ts';

/** For the record only: a client that has disconnected gets no response. */
export const disconnected = (): GatewayError => new GatewayError('INVALID_INPUT', 'The client disconnected before the response.');

/** The request did not arrive in time. */
const tooSlow = (): GatewayError =>
  new GatewayError('REQUEST_TIMEOUT', `The request took too long to arrive. ${errorCatalog.REQUEST_TIMEOUT.remedy}`);

/** The request was received, and there was no result in time. */
export const tooLong = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `No result within ${httpTimeouts.responseMs / 1_000} seconds. The requested change may have been made, or may still be made. ${safeToRepeat}`,
  );

/** The failure of a request that Node's parser rejected. @param parserCode the code of its error. */
export function parserFailure(parserCode: string | undefined): GatewayError {
  switch (parserCode) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('HEADERS_TOO_LARGE', `The headers exceed the limit of ${httpLimits.maxHeaderBytes} bytes.`);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return tooSlow();
    default:
      return new GatewayError('INVALID_INPUT', 'The request is not valid HTTP/1.1.');
  }
}

/** Too many bytes of responses are in memory. */
export const tooMuchUnsent = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    'Too many large responses are waiting for clients to read them. The requested change may have been made. ' +
      'Try again after the number of seconds in the Retry-After header.',
  );
