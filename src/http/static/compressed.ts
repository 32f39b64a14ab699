import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Handler, HttpResponse, ResponseBody } from '../types.ts';
import { chooseCoding, contentCodings } from './content-coding.ts';

/** Smaller texts fit into one packet anyway. */
const minCompressedBytes = 1_024;

/** Good enough for texts of some kilobytes, which it compresses in a millisecond, and for the longest in some. */
const brotliQuality = 9;

/** A text and what became of it, each made when a client first accepts it. */
interface Prepared {
  readonly text: string;
  readonly bytes: Partial<Record<'br' | 'gzip', Promise<Buffer>>>;
}

/**
 * Compresses the responses of a handler as clients accept it: once for each path and media type, as long as the text stays the
 * same. For handlers whose paths are few and whose texts are the same for everybody: they stay in memory.
 */
export function compressed(handle: (...parameters: Parameters<Handler['handle']>) => HttpResponse): Handler['handle'] {
  const prepared = new Map<string, Prepared>();
  return (request) => {
    const response = handle(request);
    const { headers, body } = response;
    if (response.status !== 200 || body.length < minCompressedBytes) return response;
    const vary = headers['vary'] === undefined ? 'Accept-Encoding' : `${headers['vary']}, Accept-Encoding`;
    const coding = chooseCoding(request.headers['accept-encoding'], contentCodings);
    if (coding === 'identity') return { ...response, headers: { ...headers, vary } };
    const key = `${request.path} ${headers['content-type']}`;
    let entry = prepared.get(key);
    if (entry?.text !== body) {
      entry = { text: body, bytes: {} };
      prepared.set(key, entry);
    }
    entry.bytes[coding] ??= encode[coding](body);
    return withBody(response, { ...headers, vary, 'content-encoding': coding }, entry.bytes[coding]);
  };
}

async function withBody(
  response: HttpResponse,
  headers: HttpResponse['headers'],
  body: Promise<Buffer>,
): Promise<HttpResponse<ResponseBody>> {
  return { ...response, headers, body: await body };
}

const encode = {
  br: (text: string): Promise<Buffer> => {
    const bytes = Buffer.from(text);
    const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    return promisify(brotliCompress)(bytes, { params });
  },
  gzip: (text: string): Promise<Buffer> => promisify(gzip)(text, { level: 9 }),
} as const;
