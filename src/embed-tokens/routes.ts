import { createHash } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { type ErrorCode, errorCatalog } from '../error-catalog.ts';
import { InvalidInput } from '../errors.ts';
import { formParameters } from '../http/form.ts';
import { mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';

/** The methods of the introspection endpoint. */
export const introspectionMethods = ['POST'] as const;

/**
 * Creates the handler of token introspection, RFC 7662. The credential of the caller is in the `Authorization` header only, the
 * token in the parameter `token` of a form; other parameters, `token_type_hint` among them, are accepted and ignored.
 *
 * @param introspect says which group a token identifies.
 */
export function introspectionHandler(introspect: (caller: Caller, token: string) => Promise<object>): Handler {
  return {
    async handle(request) {
      request.caller.require('groups:resolve');
      const token = formParameters(request).get('token');
      if (!token) throw new InvalidInput([{ path: ['token'], message: 'is required.' }]);
      const body = JSON.stringify(await introspect(request.caller, token));
      return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
    },
    // A problem as everywhere, with the member by which OAuth clients recognize the error.
    renderError: (error, request) => {
      const response = problem(error, request);
      return { ...response, body: JSON.stringify({ ...JSON.parse(response.body), error: oauthError(error.code) }) };
    },
  };
}

/** The error codes of RFC 6749 (section 5.2) and RFC 6750 (section 3.1). */
function oauthError(code: ErrorCode): string {
  if (code === 'UNAUTHENTICATED') return 'invalid_token';
  if (code === 'FORBIDDEN') return 'insufficient_scope';
  if (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') return 'temporarily_unavailable';
  return errorCatalog[code].status < 500 ? 'invalid_request' : 'server_error';
}

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
