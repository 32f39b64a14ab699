import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import send from '@fastify/send';
import { GatewayError } from '../errors.ts';
import { packageRoot } from '../package-root.ts';
import { inUtf8, mediaTypes, readAcceptItem } from './media-types.ts';
import type { HttpRequest, HttpResponse, ResponseBody } from './types.ts';

/**
 * The folders that `web/build.js` writes: pages, and below `assets/` what they load. A build may replace them at any time: pages
 * are then those of the new build, and the assets of the previous one are still served to people who have its pages open.
 */
const builds = ['dist-web/', 'dist-web.previous/'].map((name) => new URL(name, packageRoot));

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

/** Whether an asset may have this name. */
export const isAssetName = (name: string): boolean => /^\w[\w.-]*$/.test(name) && extname(name) in servedTypes;

/** Serves the asset that the request's parameter names. @throws GatewayError `NOT_FOUND` when there is none. */
export async function serveAsset(
  { parameter, incoming }: Pick<HttpRequest, 'parameter' | 'incoming'>,
  folders = builds,
): Promise<HttpResponse<ResponseBody>> {
  const items = (incoming.headers['accept-encoding'] ?? 'identity').split(',').map(readAcceptItem);
  const accepts = (coding: string): boolean =>
    coding === 'identity' || items.some(({ name, quality }) => name === coding && quality > 0);
  for (const folder of folders) {
    const root = fileURLToPath(new URL('assets/', folder));
    // Not every file is smaller when it is encoded.
    for (const [coding, extension] of codings.filter(([name]) => accepts(name))) {
      const options = { root, acceptRanges: false, cacheControl: false, contentType: false, lastModified: false };
      const { type, statusCode, headers, stream } = await send(incoming, `/${parameter}${extension}`, options);
      if (statusCode === 404) continue;
      if (type !== 'file') return { status: statusCode, headers: {}, body: '' };
      const encoding = coding === 'identity' ? {} : { 'content-encoding': coding };
      const contentType = servedTypes[extname(parameter)] as string; // as isAssetName checks
      return {
        status: statusCode,
        headers: { ...headers, ...encoding, 'content-type': contentType, vary: 'Accept-Encoding' },
        body: stream,
        // A change renames them.
        cacheControl: 'public, max-age=31536000, immutable',
      };
    }
  }
  throw new GatewayError('NOT_FOUND', 'There is no such file. If it belongs to an earlier version of a page, reload the page.');
}

/** The text of a page or the icon. @throws Error when it cannot be read, because the pages were not built. */
export function readWebFile(name: string, [folder] = builds): string {
  const file = new URL(name, folder);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`${fileURLToPath(file)} cannot be read. In a checkout, run: node scripts/setup.js`, { cause });
  }
}
