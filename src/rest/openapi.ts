import type { ErrorCode } from '../domain/errors.ts';
import { schema } from '../graphql/schema/schema.ts';
import { mediaTypes } from '../http/media-types.ts';
import {
  entityTagHeader,
  idempotencyKeyParameter,
  ifMatchParameter,
  problemResponse,
  problemResponses,
  replayedResponseHeader,
  requestIdHeader,
} from '../http/openapi/problem.ts';
import {
  type JsonSchema,
  jsonText,
  type Operation as OpenApiOperation,
  type Parameter,
  type PathItem,
} from '../http/openapi/types.ts';
import { failureExamples, otherMethodExample, successExamples } from './examples.ts';
import { fieldOf, requestMembers, successSchema } from './schemas.ts';
import { type Operation, operations, userMethods } from './user.ts';

/** The tag of the operations of `/api/user`. */
export const userTag = {
  name: 'Legacy REST API',
  description: 'Runs on the same resolvers as the GraphQL API, which new clients should use.',
} as const;

/** The error codes that every operation may respond with. */
const commonErrors: readonly ErrorCode[] = [
  ...(['INVALID_INPUT', 'BODY_REQUIRED', 'MALFORMED_JSON', 'UNAUTHENTICATED', 'FORBIDDEN', 'REQUEST_TIMEOUT'] as const),
  ...(['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'RATE_LIMITED', 'HEADERS_TOO_LARGE', 'INTERNAL', 'UNAVAILABLE'] as const),
];

/** What the GraphQL description of an operation does not say. */
const notes: Readonly<Record<string, string>> = {
  GET:
    'Success is 200, also when the group was created.\n\nThe parameters may be sent as members of a JSON object in the body instead ' +
    '(`Content-Type: application/json`), `mapping` and `properties` as objects. A parameter beside a body that is not the same text in ' +
    'the body is an error. In a body, optional members may be `null`, which counts as left out. A body may ' +
    'come with the method GET or, for clients and proxies that drop the body of a GET, with the method QUERY. This document describes ' +
    'the parameters, because OpenAPI 3.1 has no method QUERY and no defined semantics for the body of a GET, and most generated ' +
    'clients cannot send one.',
  PUT: 'The group is selected by `user_group_id`, which cannot be changed.',
  POST: 'The replaced token stops working immediately.',
};

/** Describes the operations of `/api/user` for the OpenAPI document. */
export function describeUser(): PathItem {
  const methods = ['GET', 'PUT', 'POST'] as const;
  const entries = methods.map((method) => [method.toLowerCase(), describeOperation(method, operations[method])]);
  return {
    description: 'A trailing slash is accepted.',
    ...Object.fromEntries(entries),
    'x-other-methods': problemResponse(['METHOD_NOT_ALLOWED'], {
      METHOD_NOT_ALLOWED: otherMethodExample(userMethods.join(', ')),
    }),
  };
}

function describeOperation(method: string, operation: Operation | undefined): OpenApiOperation {
  if (!operation) throw new Error(`${method} has no operation.`);
  const { name, description } = fieldOf(schema, operation);
  const members = requestMembers(schema, operation);
  const request =
    method === 'GET' ? { parameters: parametersOf(members, operation) } : { requestBody: bodyOf(members, operation) };
  return {
    operationId: name,
    summary: operation.title,
    description: `${description}\n\n${notes[method]}`,
    ...request,
    ...(operation.takesKey && { parameters: [idempotencyKeyParameter, ifMatchParameter] }),
    responses: {
      200: {
        description: 'Success.',
        headers: { ...requestIdHeader, ...entityTagHeader, ...(operation.takesKey && replayedResponseHeader) },
        content: { [mediaTypes.json]: { schema: successSchema(schema, operation), examples: successExamples[method] ?? {} } },
      },
      ...problemResponses([...commonErrors, ...operation.ownErrors], failureExamples(method)),
    },
  };
}

/** How a member that is an object is sent as a parameter. */
const parameterNotes: Readonly<Record<string, string>> = {
  mapping:
    ' One parameter for each entry, `mapping[SCHEMA_ID]=DATA_SOURCE`, or all of them as JSON in `mapping`. Some clients do not ' +
    'percent-encode the names of parameters: with those, a schema id must have none of the characters `#%&+=[]`.',
  properties: ' Sent as JSON text, such as `{"region":"eu"}`.',
};

/** The members as parameters of the query string, where `null` is the same as no parameter. */
function parametersOf(members: Readonly<Record<string, JsonSchema>>, { required }: Operation): Parameter[] {
  return Object.entries(members).map(([name, { description = '', type, ...rest }]) => {
    const schema = { ...rest, type: String([type].flat()[0]) };
    return {
      ...{ name, in: 'query', required: name === required, description: description + (parameterNotes[name] ?? '') },
      ...(name === 'mapping' && { style: 'deepObject', explode: true }),
      schema: name === 'properties' ? jsonText(schema) : schema,
    };
  });
}

function bodyOf(
  members: Readonly<Record<string, JsonSchema>>,
  { required }: Operation,
): NonNullable<OpenApiOperation['requestBody']> {
  const body: JsonSchema = { type: 'object', required: [required], properties: members };
  return { required: true, content: { [mediaTypes.json]: { schema: body } } };
}
