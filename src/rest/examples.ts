import { credentialRequired } from '../domain/caller.ts';
import { type ErrorCode, errorCatalog, type Issue, otherVersion, safeToRepeat } from '../domain/errors.ts';
import { keyInUse, keyReused } from '../domain/idempotency.ts';
import { rateLimited } from '../domain/rate-limit.ts';
import { idIsHeld } from '../domain/user-group-creation.ts';
import { notFound } from '../domain/user-groups.ts';
import { httpLimits } from '../http/limits.ts';
import { mediaTypes } from '../http/media-types.ts';
import type { Example } from '../http/openapi/types.ts';
import { problem } from '../http/problem.ts';
import { curl, type ExampleRequest, shellVariable } from './curl.ts';

/** The shell variables of the examples, and what each holds. */
export const exampleVariables = {
  GATEWAY: 'the base URL of the gateway, without a slash at its end',
  API_TOKEN: 'an API token of the environment Testing with the scope groups:write',
  READ_ONLY_API_TOKEN: 'an API token with the scope groups:read only',
  UNTAGGED_API_TOKEN: 'an API token without an environment, with the scope groups:write',
  USER_GROUP_TOKEN: 'the current token of the user group acme',
} as const;

const groupToken = `ugt_${'x'.repeat(36)}`;
const acme = { team_id: 1, token: groupToken, name: 'ACME', provided_id: 'acme' };

/** The examples of successes, by method and then by name. They apply in this order, to a gateway without user groups. */
export const successExamples: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  GET: {
    created: example(
      'Creates the group: the members in the body',
      {
        method: 'GET',
        body: { user_group_id: 'acme', name: 'ACME', mapping: { sales: 'warehouse' }, properties: { region: 'eu' } },
      },
      { success: 1, new_user_group: true, user_group: { ...acme, properties: { region: 'eu' } } },
    ),
    existing: example(
      'Returns the existing group unchanged: the members in the body of a QUERY',
      { method: 'QUERY', body: { user_group_id: 'acme', name: 'Another name' } },
      { success: 1, new_user_group: false, user_group: { ...acme, properties: { region: 'eu' } } },
    ),
    query: example(
      'Creates the group: the members as parameters',
      { method: 'GET', query: { user_group_id: 'globex', 'mapping[sales]': 'warehouse', properties: '{"region":"us"}' } },
      {
        success: 1,
        new_user_group: true,
        user_group: { team_id: 2, token: groupToken, name: 'globex', provided_id: 'globex', properties: { region: 'us' } },
      },
    ),
  },
  PUT: {
    updated: example(
      'Changes the name and clears the properties',
      { method: 'PUT', body: { user_group_id: 'acme', name: 'ACME Inc.', properties: null } },
      { success: 1, user_group: { ...acme, name: 'ACME Inc.', properties: null, api_environment_tag: 'Testing' } },
    ),
  },
  POST: {
    rotated: example(
      'Replaces the current token',
      { method: 'POST', body: { current_token: shellVariable('USER_GROUP_TOKEN') } },
      { success: 1, user_group: { ...acme, name: 'ACME Inc.', api_environment_tag: 'Testing' } },
    ),
  },
};

/** An operation's valid body, for the failures that do not depend on it. */
const validBodies: Readonly<Record<string, object>> = {
  GET: { user_group_id: 'acme' },
  PUT: { user_group_id: 'acme', name: 'ACME' },
  POST: { current_token: shellVariable('USER_GROUP_TOKEN') },
};

const wrongString: (...path: string[]) => Issue = (...path) => ({ path, message: 'must be a string.' });

/** A body of wrong types for each operation, and its issues. */
const invalidBodies: Readonly<Record<string, { readonly body: object; readonly issues: readonly Issue[] }>> = {
  GET: {
    body: { user_group_id: 42, mapping: { sales: null } },
    issues: [wrongString('user_group_id'), wrongString('mapping', 'sales')],
  },
  PUT: { body: { user_group_id: 'acme', name: 42 }, issues: [wrongString('name')] },
  POST: { body: {}, issues: [{ path: ['current_token'], message: 'is required.' }] },
};

/** The examples of an operation's failures, by error code. */
export function failureExamples(method: string): Record<string, Example> {
  const body = validBodies[method];
  const { body: invalid, issues } = invalidBodies[method] ?? { body: {}, issues: [] };
  const { maxBodyBytes, maxHeaderBytes } = httpLimits;
  const bodyRequired =
    method === 'GET' ? errorCatalog.BODY_REQUIRED.remedy.replace('Send a JSON object. ', '') : 'Send a JSON object.';
  const notFoundBody = method === 'PUT' ? { user_group_id: 'unknown' } : { current_token: 'no-such-user-group-token' };
  const idempotencyKey = `"${method.toLowerCase()}-1"`;
  const isHeld = idIsHeld('shared', 'Testing').message;
  const examples: Partial<Record<ErrorCode, Example>> = {
    INVALID_INPUT: failure('Members of wrong types', { method, body: invalid }, 'INVALID_INPUT', '', issues),
    BODY_REQUIRED: failure('No body', { method }, 'BODY_REQUIRED', `The request has no body. ${bodyRequired}`),
    MALFORMED_JSON: failure('A trailing comma', { method, body: '{"name":"ACME",}' }, 'MALFORMED_JSON', malformed),
    UNAUTHENTICATED: failure('No API token', { method, token: null, body }, 'UNAUTHENTICATED', credentialRequired),
    FORBIDDEN: failure('A missing scope', { method, token: 'READ_ONLY_API_TOKEN', body }, 'FORBIDDEN', forbidden),
    NOT_FOUND: failure('An unknown group', { method, body: notFoundBody }, 'NOT_FOUND', notFound().message),
    CONFLICT: failure('An id of an untagged group', { method, body: { user_group_id: 'shared' } }, 'CONFLICT', isHeld, [], {
      method,
      ...{ token: 'UNTAGGED_API_TOKEN', body: { user_group_id: 'shared' } },
    }),
    VERSION_MISMATCH: failure(
      'An ETag of no version of the group',
      { method, ifMatch: '"acme"', body },
      'VERSION_MISMATCH',
      otherVersion,
    ),
    IDEMPOTENCY_KEY_IN_USE: failure(
      'A request with the same key is being executed',
      ...([undefined, 'IDEMPOTENCY_KEY_IN_USE', keyInUse().message] as const),
    ),
    IDEMPOTENCY_KEY_REUSED: failure(
      'Another request with the same key',
      { method, idempotencyKey, body },
      ...(['IDEMPOTENCY_KEY_REUSED', keyReused().message, [], { method, idempotencyKey, body: notFoundBody }] as const),
    ),
    PAYLOAD_TOO_LARGE: failure(
      'A large body',
      { method, bodyFrom: `head -c ${maxBodyBytes + 1} /dev/zero` },
      'PAYLOAD_TOO_LARGE',
      `The body exceeds the limit of ${maxBodyBytes} bytes.`,
    ),
    UNSUPPORTED_MEDIA_TYPE: failure(
      'A form, which is what curl -d sends without a Content-Type header',
      { method, body, contentType: mediaTypes.form },
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must be ${mediaTypes.json} in UTF-8, not ${mediaTypes.form}.`,
    ),
    HEADERS_TOO_LARGE: failure(
      'A large header',
      { method, body, headerFrom: ['X-Large', `head -c ${maxHeaderBytes} /dev/zero | tr '\\0' x`] },
      'HEADERS_TOO_LARGE',
      `The headers exceed the limit of ${maxHeaderBytes} bytes.`,
    ),
    RATE_LIMITED: failure('Too many requests', undefined, 'RATE_LIMITED', rateLimited(600, 12)),
    REQUEST_TIMEOUT: failure('A body that does not arrive', undefined, 'REQUEST_TIMEOUT', timeout),
    INTERNAL: failure('An unexpected failure', undefined, 'INTERNAL', internal),
    UNAVAILABLE: failure('The database is unavailable', undefined, 'UNAVAILABLE', unavailable),
  };
  return examples;
}

/** The example of the response to a method that is not supported. */
export function otherMethodExample(allow: string): Example {
  const method = 'DELETE';
  return failure(method, { method }, 'METHOD_NOT_ALLOWED', `${method} is not supported; allowed: ${allow}.`);
}

const malformed = 'The body is not valid JSON: Expected double-quoted property name in JSON at position 15';
const forbidden = 'This requires the scope groups:write, which the API token does not have.';
const timeout = `The request took too long to arrive. ${errorCatalog.REQUEST_TIMEOUT.remedy}`;
const internal = 'Internal error. The log has the cause under the request id.';
const unavailable = `The database is unavailable. A requested change may have been made. ${safeToRepeat}`;

function example(summary: string, request: ExampleRequest | undefined, value: unknown, before?: ExampleRequest): Example {
  const preparation = before ? `${curl(before)} > /dev/null\n` : '';
  return { summary, value, ...(request && { 'x-curl': preparation + curl(request) }) };
}

function failure(
  summary: string,
  request: ExampleRequest | undefined,
  code: ErrorCode,
  message: string,
  issues: readonly Issue[] = [],
  before?: ExampleRequest,
): Example {
  const { body } = problem({ code, message, issues }, { id: '8f8a7a35-2c8e-4a44-9a0b-6d3e1f0c2b57' });
  return example(summary, request, JSON.parse(body), before);
}
