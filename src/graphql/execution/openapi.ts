import { mediaTypes } from '../../http/media-types.ts';
import { idempotencyKeyParameter, replayedResponseHeader, requestIdHeader } from '../../http/openapi/problem.ts';
import { type Content, type JsonSchema, jsonText, type PathItem, type ResponseObject } from '../../http/openapi/types.ts';

/** The tag of the operations of the GraphQL endpoint. */
export const graphqlTag = {
  name: 'GraphQL',
  description: 'GraphQL over HTTP. The schema has the types and their descriptions; introspection and the playground show it.',
} as const;

const object = (description: string): JsonSchema => ({ type: 'object', description });

const members: Readonly<Record<string, JsonSchema>> = {
  query: { type: 'string', description: 'The document.' },
  operationName: { type: 'string', description: 'The operation to execute, if the document has several.' },
  variables: object('The values of the variables.'),
  extensions: object('With `{"cost": true}` the response has the cost of the operation and the limit.'),
};

const result: JsonSchema = {
  type: 'object',
  properties: {
    data: { type: ['object', 'null'], description: 'The result.' },
    errors: { type: 'array', items: { type: 'object' }, description: 'The errors; the code of each is in its extensions.' },
    extensions: object('What the extensions of the request select.'),
  },
};

const content: Content = Object.fromEntries([mediaTypes.graphql, mediaTypes.json].map((type) => [type, { schema: result }]));

const response = (description: string, headers: ResponseObject['headers'] = {}): ResponseObject => ({
  description,
  headers: { ...requestIdHeader, ...headers },
  content,
});

/** Describes the GraphQL endpoint for the OpenAPI document; the operations behind it are described by the GraphQL schema. */
export function describeGraphql(): PathItem {
  const common = {
    responses: {
      200: response('The result. With `Accept: application/json` also the errors of a request that was not executed.'),
      '4XX': response('The request was not executed.'),
      '5XX': response('The request failed.'),
    },
  };
  return {
    get: {
      ...{ operationId: 'queryGraphql', summary: 'Execute a query', ...common },
      parameters: Object.entries(members).map(([name, { description = '', ...schema }]) => ({
        ...{ name, in: 'query', required: name === 'query', description },
        schema: schema.type === 'object' ? jsonText(schema) : schema,
      })),
    },
    post: {
      ...{ operationId: 'executeGraphql', summary: 'Execute a query or a mutation' },
      parameters: [idempotencyKeyParameter],
      responses: {
        ...common.responses,
        200: response(common.responses[200].description ?? '', replayedResponseHeader),
        409: response('A mutation with the same Idempotency-Key is being executed.'),
        422: response('Another mutation had the same Idempotency-Key.'),
      },
      requestBody: {
        required: true,
        content: { [mediaTypes.json]: { schema: { type: 'object', required: ['query'], properties: members } } },
      },
    },
  };
}
