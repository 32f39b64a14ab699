import { errorCatalog, GatewayError, InvalidInput } from '../../domain/errors.ts';
import { jsonObject } from '../../http/body.ts';
import { parseJson, parseQuery } from '../../http/json.ts';
import { inUtf8, mediaTypes } from '../../http/media-types.ts';
import { type Failure, failureHeaders, headersOf } from '../../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../../http/types.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { graphqlLimits } from '../schema/limits.ts';
import { responseTooLarge } from '../schema/response-meter.ts';
import { createGraphQLServer, type GraphQLParams, type GraphQLServerOptions } from './server.ts';

const { maxAcceptLength, maxResponseBytes } = graphqlLimits;

/** The methods of the GraphQL endpoint. */
export const graphqlMethods = ['GET', 'POST'] as const;

/**
 * Creates the handler of the GraphQL endpoint.
 *
 * @param contextOf creates the context of the resolvers for a request.
 */
export function graphqlHandler(contextOf: (request: HttpRequest) => GraphQLContext, options: GraphQLServerOptions): Handler {
  const server = createGraphQLServer(failureHeaders, options);

  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const { method, url, headers, body, query } = request;
    const { accept } = headers;
    if (accept !== undefined && accept.length > maxAcceptLength) throw acceptTooLong();
    const params = readParams(request);
    const context = contextOf(request);
    const fast = method === 'POST' ? await server.fastPath({ params, characters: body.length, accept, context }) : undefined;
    if (fast) return fast;
    const response = await server.fullPipeline({
      ...{ url: `http://gateway${url}`, init: { method, headers: headers as Record<string, string> } },
      ...{ params, characters: body.length + query.length, context },
    });
    if (response.status === 406) return notAcceptable();
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  }

  return {
    async handle(request) {
      const response = await respond(request);
      const { body } = response;
      // The number of characters is a cheap lower bound of a quarter of the bytes.
      if (body.length > maxResponseBytes / 4 && Buffer.byteLength(body) > maxResponseBytes) throw responseTooLarge();
      return response;
    },
    renderError: (error, { headers }) => renderGraphQLError(error, headers.accept),
  };
}

function acceptTooLong(): GatewayError {
  return new GatewayError(
    'INVALID_INPUT',
    `The Accept header exceeds the limit of ${maxAcceptLength} characters. Send "Accept: ${mediaTypes.json}".`,
  );
}

function notAcceptable(): HttpResponse {
  const available = `${mediaTypes.graphql}, ${mediaTypes.json}`;
  const message = `None of the media types in the Accept header is supported; available: ${available}.`;
  return {
    status: 406,
    headers: { 'content-type': inUtf8(mediaTypes.json) },
    body: JSON.stringify({ errors: [{ message, extensions: { code: 'INVALID_INPUT' } }] }),
  };
}

/** Reads the parameters as strictly as REST does, so that a number that JSON would change is rejected here too. */
function readParams(request: HttpRequest): GraphQLParams {
  if (request.method === 'POST') return jsonObject(request, 'Send {"query": "…", "variables": {…}}.');
  const given = Object.fromEntries(parseQuery(request.query));
  const { variables, extensions } = given;
  return {
    ...given,
    ...(variables && { variables: parseJson(variables, 'The parameter variables') }),
    ...(extensions && { extensions: parseJson(extensions, 'The parameter extensions') }),
  };
}

/** A failure of the whole request, in the form of a GraphQL response. */
function renderGraphQLError(error: Failure, accept = ''): HttpResponse {
  const type = accept.includes(mediaTypes.graphql) ? mediaTypes.graphql : mediaTypes.json;
  const extensions = { code: error.code, ...(error instanceof InvalidInput && { issues: error.issues }) };
  return {
    status: errorCatalog[error.code].status,
    headers: { 'content-type': inUtf8(type), ...headersOf(error) },
    body: JSON.stringify({ errors: [{ message: error.message, extensions }] }),
  };
}
