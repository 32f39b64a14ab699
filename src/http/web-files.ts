import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import send from '@fastify/send';
import { GatewayError } from '../errors.ts';
import { inUtf8, mediaTypes, readAcceptItem } from './media-types.ts';
import type { HttpRequest, HttpResponse, ResponseBody } from './types.ts';

/** The files of the pages that have a script, as their build wrote them. Read when they are requested. */
export interface WebFiles {
  /** Whether an asset may have this name. */
  isName(name: string): boolean;
  /** Serves the asset that the request's parameter names. @throws GatewayError `NOT_FOUND` when there is none. */
  serve(request: Pick<HttpRequest, 'parameter' | 'incoming'>): Promise<HttpResponse<ResponseBody>>;
  /** The HTML of a page, with placeholders. @throws Error when it cannot be read, because the pages were not built. */
  page(name: string): string;
}

/** The assets are served under names that change with their content, so that browsers may keep them. */
export const immutable = 'public, max-age=31536000, immutable';

/** What is served, by file extension; other files are not. */
const servedTypes: Readonly<Record<string, string>> = {
  '.js': inUtf8(mediaTypes.javascript),
  '.css': inUtf8(mediaTypes.css),
  '.svg': inUtf8(mediaTypes.svg),
  '.json': mediaTypes.json,
  '.woff2': mediaTypes.woff2,
  '.ttf': mediaTypes.ttf,
};

/** The content codings, the smallest files first, and the extension of an encoded file, which follows its own. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
] as const;

/**
 * Serves the files of a folder that `web/build.js` wrote: pages, and below `assets/` what they load. A build may replace the
 * folder at any time: pages are then those of the new build, and the assets of the previous one are still served to people who
 * have its pages open.
 *
 * @param folder ends with a slash.
 * @param previous the folder in which the build keeps the previous one.
 */
export function openWebFiles(folder: URL, previous: URL): WebFiles {
  const roots = [folder, previous].map((root) => fileURLToPath(new URL('assets/', root)));
  return {
    isName: (name) => /^\w[\w.-]*$/.test(name) && extname(name) in servedTypes,
    async serve({ parameter, incoming }) {
      const items = (incoming.headers['accept-encoding'] ?? 'identity').split(',').map(readAcceptItem);
      const accepts = (coding: string): boolean =>
        coding === 'identity' || items.some(({ name, quality }) => name === coding && quality > 0);
      for (const root of roots) {
        // Not every file is smaller when it is encoded.
        for (const [coding, extension] of codings.filter(([name]) => accepts(name))) {
          const options = { root, acceptRanges: false, cacheControl: false, contentType: false, lastModified: false };
          const { type, statusCode, headers, stream } = await send(incoming, `/${parameter}${extension}`, options);
          if (statusCode === 404) continue;
          if (type !== 'file') return { status: statusCode, headers: {}, body: '' };
          const encoding = coding === 'identity' ? {} : { 'content-encoding': coding };
          const contentType = servedTypes[extname(parameter)] as string; // as isName checks
          return {
            status: statusCode,
            headers: { ...headers, ...encoding, 'content-type': contentType, vary: 'Accept-Encoding' },
            body: stream,
            cacheControl: immutable,
          };
        }
      }
      throw new GatewayError(
        'NOT_FOUND',
        'There is no such file. If it belongs to an earlier version of a page, reload the page.',
      );
    },
    page: (name) => readPage(new URL(`${name}.html`, folder)),
  };
}

function readPage(file: URL): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${fileURLToPath(file)} cannot be read. In a checkout, run: node scripts/setup.js`, { cause });
  }
}
