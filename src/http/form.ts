import { isUtf8 } from 'node:buffer';
import { GatewayError, InvalidInput, shorten } from '../errors.ts';
import { requireMediaType } from './body.ts';
import { httpLimits } from './limits.ts';
import { mediaTypes } from './media-types.ts';
import type { HttpRequest } from './types.ts';

const { maxFormBytes, maxFormParameters } = httpLimits;

/**
 * The parameters in a request's body, a form.
 *
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE` when it is declared as anything but a form in UTF-8; `PAYLOAD_TOO_LARGE`.
 * @throws InvalidInput when it is not valid UTF-8, has too many parameters, or one of them twice, which OAuth 2.0 does not
 *   permit.
 */
export function formParameters({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): URLSearchParams {
  requireMediaType(mediaTypes.form, headers['content-type'], headers['content-encoding']);
  if (body.length > maxFormBytes)
    throw new GatewayError('PAYLOAD_TOO_LARGE', `A form exceeds the limit of ${maxFormBytes} bytes.`);
  const text = body.toString('latin1');
  if (!isUtf8(body) || !isDecodable(text)) throw invalid([], 'The form is not valid: percent-encoded bytes must be UTF-8.');
  if (text.split('&', maxFormParameters + 1).length > maxFormParameters) {
    throw invalid([], `The form must have at most ${maxFormParameters} parameters.`);
  }
  const parameters = new URLSearchParams(body.toString('utf8'));
  const names = [...parameters.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw invalid([shorten(repeated)], 'must be given once.');
  return parameters;
}

const invalid = (path: readonly string[], message: string): InvalidInput => new InvalidInput([{ path, message }]);

/** Whether what is percent-encoded is UTF-8. `URLSearchParams` would replace every other byte by one and the same character. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
