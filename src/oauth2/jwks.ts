import { createHash } from 'node:crypto';
import { mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';

/**
 * Creates the handler of the public keys as a JWK Set (RFC 7517).
 *
 * @param readKeys the keys that are published now.
 * @param maxAgeSeconds how long clients may keep them.
 */
export function jwksHandler(readKeys: () => Promise<readonly object[]>, maxAgeSeconds: number): Handler {
  const cacheControl = `public, max-age=${maxAgeSeconds}`;
  return {
    async handle(request): Promise<HttpResponse> {
      const body = JSON.stringify({ keys: await readKeys() });
      const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
      // With 304, too, the body decides the Content-Length (RFC 9110, section 8.6); Node.js does not send it.
      const status = hasVersion(request, etag) ? 304 : 200;
      return { status, headers: { 'content-type': mediaTypes.json, etag }, body, cacheControl };
    },
    renderError: problem,
  };
}

/** Whether the client has this version, according to `If-None-Match`. */
function hasVersion({ headers }: HttpRequest, etag: string): boolean {
  const versions = headers['if-none-match']?.split(',').map((version) => version.trim().replace(/^W\//, ''));
  return versions?.some((version) => version === etag || version === '*') ?? false;
}
