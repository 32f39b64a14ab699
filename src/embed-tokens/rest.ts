import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type App, contextOf } from '../app.ts';
import { Caller, systemAuthor } from '../caller.ts';
import { type ErrorCode, errorCatalog } from '../error-catalog.ts';
import { GatewayError, InvalidInput, type Issue, shorten } from '../errors.ts';
import { jsonObject, queryIssues, requireMediaType, unknownFields } from '../http/body.ts';
import { mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';
import { httpLimits } from '../http-limits.ts';
import type { UserGroupBy } from '../user-groups/user-groups.ts';
import { createEmbedToken, introspect } from './embed-tokens.ts';
import type { EmbedTokenInput } from './rules.ts';
import { jwksMaxAgeSeconds, readSigningKeys } from './signing-keys.ts';

/** The methods of the route that creates embed tokens. */
export const embedTokenMethods = ['POST'] as const;

/** The members whose names differ from those of the GraphQL schema. */
const renamed = { expires_in_seconds: 'expiresInSeconds', include_properties: 'includeProperties' } as const;
const selectors = { provided_id: 'providedId', team_id: 'teamId', token: 'token' } as const;
const memberNames = new Map<unknown, string>(
  Object.entries({ ...renamed, ...selectors }).map(([member, name]) => [name, member]),
);

/** Every member of a request, and of the objects in it. */
const knownMembers = ['user_group_id', 'by', 'audience', ...Object.keys(renamed), 'viewer', 'resources', 'origin'];
const knownIn = { by: Object.keys(selectors), viewer: ['id', 'name', 'email', 'attributes'] };

/**
 * Creates the handler of `POST /api/embed-tokens`, the mutation `createEmbedToken` with members in snake case. It changes
 * nothing, so that requests need no Idempotency-Key.
 */
export function embedTokenHandler(app: App): Handler {
  return {
    async handle(request) {
      request.operation = 'createEmbedToken';
      request.caller.require('embed:sign');
      const body = jsonObject(request, 'Send a JSON object.') as Record<string, unknown>;
      assertAllKnown(body, request.query);
      const {
        expires_in_seconds: expiresInSeconds,
        include_properties: includeProperties,
        by: given,
        user_group_id: userGroupId,
        ...others
      } = body;
      const input = { ...others, expiresInSeconds, includeProperties } as EmbedTokenInput;
      const by = selectorOf(given, userGroupId);
      const { token, expiresAt } = await createEmbedToken(contextOf(app, request.caller), by, input).catch((error: unknown) => {
        throw withMemberNames(error);
      });
      const response = JSON.stringify({ success: 1, token, expires_at: expiresAt });
      return { status: 200, headers: { 'content-type': mediaTypes.json }, body: response };
    },
    renderError: problem,
  };
}

/** Checks that nothing is ignored: a token that lasts longer, or opens more, than its creator meant. @throws InvalidInput. */
function assertAllKnown(body: Readonly<Record<string, unknown>>, query: string): void {
  const issues = [
    ...unknownFields(Object.keys(body), knownMembers),
    ...Object.entries(knownIn).flatMap(([name, known]) => unknownFields(Object.keys(Object(body[name] ?? {})), known, [name])),
    ...queryIssues(query, knownMembers),
  ];
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** The selector of the group: `by`, or `user_group_id` for its provided id. Values are not checked, except for a number. */
function selectorOf(by: unknown, userGroupId: unknown): UserGroupBy {
  const given = userGroupId == null ? by : { ...Object(by ?? {}), provided_id: userGroupId };
  const found = Object.entries(selectors).flatMap(([member, name]) => {
    const value = (Object(given) as Record<string, unknown>)[member];
    return value == null ? [] : [[name, value] as const];
  });
  const [[name, value] = [undefined, undefined], ...others] = found;
  if (name === undefined || others.length > 0 || (by != null && userGroupId != null)) {
    const message = 'must have exactly one of provided_id, team_id and token, unless user_group_id is given instead.';
    throw new InvalidInput([{ path: ['by'], message }]);
  }
  if (name === 'teamId' && !(Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31)) {
    throw new InvalidInput([{ path: ['by', 'team_id'], message: 'must be a whole number from 0 to 2147483647.' }]);
  }
  return { [name]: value } as unknown as UserGroupBy;
}

/** An error whose issue paths, if it has any, have the names of the members. */
function withMemberNames(error: unknown): unknown {
  if (!(error instanceof InvalidInput)) return error;
  const rename = (names: Issue['path'], depth: number): Issue['path'] =>
    names.map((name, index) => (index < depth ? (memberNames.get(name) ?? name) : name));
  return new InvalidInput(error.issues.map(({ path, message }) => ({ path: rename(path, path[0] === 'by' ? 2 : 1), message })));
}

/** The methods of the introspection endpoint. */
export const introspectionMethods = ['POST'] as const;

/**
 * Creates the handler of token introspection, RFC 7662. The credential of the caller is in the `Authorization` header only, the
 * token in the parameter `token` of a form; other parameters, `token_type_hint` among them, are accepted and ignored.
 */
export function introspectionHandler(app: App): Handler {
  return {
    async handle(request) {
      request.caller.require('groups:resolve');
      const token = formParameters(request).get('token');
      if (!token) throw new InvalidInput([{ path: ['token'], message: 'is required.' }]);
      const body = JSON.stringify(await introspect(contextOf(app, request.caller), token));
      return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
    },
    // A problem as everywhere, with the member by which OAuth clients recognize the error.
    renderError: (error, request) => {
      const response = problem(error, request);
      return { ...response, body: JSON.stringify({ ...JSON.parse(response.body), error: oauthError(error.code) }) };
    },
  };
}

const { maxFormBytes, maxFormParameters } = httpLimits;

/**
 * The parameters in a request's body, a form.
 *
 * @throws GatewayError `UNSUPPORTED_MEDIA_TYPE` when it is declared as anything but a form in UTF-8; `PAYLOAD_TOO_LARGE`.
 * @throws InvalidInput when it is not valid UTF-8, has too many parameters, or one of them twice, which OAuth 2.0 does not
 *   permit.
 */
function formParameters({ headers, body }: Pick<HttpRequest, 'headers' | 'body'>): URLSearchParams {
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

/** The error codes of RFC 6749 (section 5.2) and RFC 6750 (section 3.1). */
function oauthError(code: ErrorCode): string {
  if (code === 'UNAUTHENTICATED') return 'invalid_token';
  if (code === 'FORBIDDEN') return 'insufficient_scope';
  if (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') return 'temporarily_unavailable';
  return errorCatalog[code].status < 500 ? 'invalid_request' : 'server_error';
}

/** Creates the handler of the public keys as a JWK Set (RFC 7517). */
export function jwksHandler(app: App): Handler {
  const cacheControl = `public, max-age=${jwksMaxAgeSeconds}`;
  return {
    async handle(request): Promise<HttpResponse> {
      const { published } = await readSigningKeys(contextOf(app, Caller.trusted(systemAuthor)));
      const body = JSON.stringify({ keys: [...published.values()] });
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
