import { mediaTypes } from '../http/media-types.ts';
import { problemSchema, requestIdHeader } from '../http/openapi/problem.ts';
import type { JsonSchema, PathItem, ResponseObject } from '../http/openapi/types.ts';

/** The tag of the operations of OAuth 2.0. */
export const oauth2Tag = {
  name: 'OAuth 2.0',
  description: 'Token introspection (RFC 7662), for OAuth 2.0 client libraries.',
} as const;

const text = (description: string): JsonSchema => ({ type: 'string', description });

const request: JsonSchema = {
  type: 'object',
  required: ['token'],
  properties: {
    token: { ...text('A user group token or an embed token.'), minLength: 1 },
    token_type_hint: text('Accepted and ignored.'),
  },
};

const introspection: JsonSchema = {
  type: 'object',
  description: 'What the token identifies. Without any other member if it is not active.',
  additionalProperties: false,
  required: ['active'],
  properties: {
    active: { type: 'boolean', description: 'Whether the token identifies a user group in the environment of the API token.' },
    sub: text('The provided id of the group.'),
    team_id: { type: 'integer', description: 'The number that the gateway assigned to the group.' },
    env: { type: ['string', 'null'], enum: ['Customer', 'Testing', null], description: 'Its environment; null means untagged.' },
    name: text('Its display name.'),
    exp: {
      type: 'integer',
      description: 'When an embed token or a token in its grace period expires, in seconds since 1970; absent otherwise.',
    },
    aud: text('The audience of an embed token that has one.'),
  },
};

const problem: JsonSchema = {
  ...problemSchema,
  required: [...(problemSchema.required ?? []), 'error'],
  properties: { ...problemSchema.properties, error: text('The error code of OAuth 2.0 (RFC 6749, RFC 6750).') },
};

const failure = (description: string): ResponseObject => ({
  description,
  headers: requestIdHeader,
  content: { [mediaTypes.problem]: { schema: problem } },
});

/** Describes the introspection endpoint for the OpenAPI document. */
export function describeIntrospection(): PathItem {
  return {
    post: {
      operationId: 'introspectToken',
      summary: 'Find out which user group a token identifies',
      description:
        'Reads the database each time: a token is inactive as soon as it is rotated, or its group is deleted or gets another ' +
        'environment. Requires the scope groups:resolve, which groups:read includes.',
      requestBody: { required: true, content: { [mediaTypes.form]: { schema: request } } },
      responses: {
        200: {
          description: 'Whether the token is active. Not to be cached.',
          headers: requestIdHeader,
          content: { [mediaTypes.json]: { schema: introspection } },
        },
        '4XX': failure('The request was not executed.'),
        '5XX': failure('The request failed.'),
      },
    },
  };
}
