import { type ErrorCode, errorCatalog, maxIssues } from '../../domain/errors.ts';
import { httpLimits } from '../limits.ts';
import { mediaTypes } from '../media-types.ts';
import { failureHeaders } from '../problem.ts';
import type { Example, HeaderObject, JsonSchema, Parameter, ResponseObject } from './types.ts';

const allCodes = Object.keys(errorCatalog) as ErrorCode[];

/** Refers to the schema of problems in the components of the document. */
const problemReference: JsonSchema = { $ref: '#/components/schemas/Problem' };

const string = (description: string): JsonSchema => ({ type: 'string', description });

const problemProperties: Readonly<Record<string, JsonSchema>> = {
  success: { type: 'integer', const: 0, description: 'Always 0.' },
  type: { ...string('The path of the page about the code, on the gateway itself.'), format: 'uri-reference' },
  title: string('The meaning of the code; never varies.'),
  status: { type: 'integer', description: 'The HTTP status.' },
  detail: string('What happened and what to do.'),
  code: { type: 'string', enum: allCodes, description: 'The error code.' },
  issues: {
    type: 'array',
    maxItems: maxIssues,
    description: `The problems of an invalid input, up to ${maxIssues}; empty for other errors.`,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['path', 'message'],
      properties: {
        path: {
          type: 'array',
          items: { type: 'string' },
          description: 'Member names and list indexes from the root of the input.',
        },
        message: string('What is wrong and what is expected.'),
      },
    },
  },
  request_id: string('The id under which the log has the failure; the same as the header X-Request-Id.'),
};

/** The schema of an error's body: RFC 9457 with extension members. */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'An error: RFC 9457 problem details, with the extension members success, code, issues and request_id.',
  additionalProperties: false,
  required: Object.keys(problemProperties),
  properties: problemProperties,
};

/** The header that every response has. */
export const requestIdHeader: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': {
    description: 'Identifies the request: the value of the same header in the request if it has one, otherwise a new one.',
    required: true,
    schema: { type: 'string' },
  },
};

/** The header of responses that are sent again. */
export const replayedResponseHeader: Readonly<Record<string, HeaderObject>> = {
  'Idempotency-Replayed': {
    description: 'Whether this is the stored response to an earlier request with the same Idempotency-Key; absent if not.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** The request header that makes a request safe to repeat. */
export const idempotencyKeyParameter: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A key that no other request has, such as a UUID: 1 to 255 printable ASCII characters, in double quotes or, without spaces, commas ' +
    'and semicolons, as they are. A request with the same key and the same content gets the same response for 24 hours, and changes ' +
    'nothing again.',
  schema: { type: 'string', minLength: 1 },
};

/** The header of responses with a user group. */
export const entityTagHeader: Readonly<Record<string, HeaderObject>> = {
  ETag: {
    description:
      'The version of the user group as an entity tag, such as `"3"`. It is another one after every change of the group.',
    required: true,
    schema: { type: 'string' },
  },
};

/** The request header that makes a change depend on the version of the user group. */
export const ifMatchParameter: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag that you got with the user group, a list of them separated by commas, or `*` for any. If the group was changed since, ' +
    'nothing is changed, and the response is `VERSION_MISMATCH`. A weak entity tag matches nothing.',
  schema: { type: 'string', minLength: 1, maxLength: httpLimits.maxIfMatchCharacters },
};

const headerDescriptions: Readonly<Record<string, string>> = {
  'www-authenticate': 'The accepted scheme of the Authorization header.',
  'retry-after': 'How many seconds to wait before the next attempt.',
  allow: 'The supported methods.',
};

/** How a header is written, which does not matter to HTTP: `Retry-After`. */
const headerName = (name: string): string =>
  name
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('-')
    .replace('Www', 'WWW');

function headersFor(codes: readonly ErrorCode[]): Record<string, HeaderObject> {
  const names = new Set(codes.flatMap((code) => Object.keys(failureHeaders(code))));
  if (codes.includes('METHOD_NOT_ALLOWED')) names.add('allow');
  return Object.fromEntries(
    [...names].map((name) => [
      headerName(name),
      { description: headerDescriptions[name] ?? name, required: true, schema: { type: 'string' } },
    ]),
  );
}

/** The responses with these error codes, by status; examples are named by their codes, with what follows a space. */
export function problemResponses(
  codes: readonly ErrorCode[],
  examples: Readonly<Record<string, Example>>,
): Record<string, ResponseObject> {
  const statuses = [...new Set(codes.map((code) => errorCatalog[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      problemResponse(
        codes.filter((code) => errorCatalog[code].status === status),
        examples,
      ),
    ]),
  );
}

/** The response with one of these codes, which have the same status. */
export function problemResponse(codes: readonly ErrorCode[], examples: Readonly<Record<string, Example>>): ResponseObject {
  const [first] = codes;
  const status = first && errorCatalog[first].status;
  const own = Object.entries(examples).filter(([name]) => codes.some((code) => name === code));
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalog[code].title}. ${errorCatalog[code].remedy}`).join('\n\n'),
    headers: { ...requestIdHeader, ...headersFor(codes), ...(codes.includes('VERSION_MISMATCH') && entityTagHeader) },
    content: {
      [mediaTypes.problem]: {
        schema: {
          allOf: [
            problemReference,
            {
              type: 'object',
              properties: { status: { type: 'integer', const: status ?? 0 }, code: { type: 'string', enum: codes } },
            },
          ],
        },
        examples: Object.fromEntries(own),
      },
    },
  };
}

/** Any error, for operations whose errors are not listed one by one. */
export const anyProblem: ResponseObject = {
  description: 'An error, in the format of the REST API.',
  headers: requestIdHeader,
  content: { [mediaTypes.problem]: { schema: problemReference } },
};
