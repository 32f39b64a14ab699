import { errorCatalog, GatewayError, InvalidInput } from '../../domain/errors.ts';
import { jsonObject } from '../../http/body.ts';
import { parseJson, parseQuery } from '../../http/json.ts';
import { failureHeaders } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/types.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { graphqlLimits } from '../schema/limits.ts';
import { assertResponseSize } from '../schema/response-meter.ts';
import type { GraphQLParams, GraphQLServer } from './server.ts';

const acceptable = 'application/graphql-response+json, application/json';

/**
 * The route of the GraphQL endpoint.
 *
 * @param contextOf creates the context of the resolvers for a request.
 */
export function graphqlRoute(server: GraphQLServer, contextOf: (request: HttpRequest) => GraphQLContext): Route {
  async function respondByFullPipeline(
    request: HttpRequest,
    params: GraphQLParams,
    context: GraphQLContext,
  ): Promise<HttpResponse> {
    const { method, url, body, query } = request;
    const headers = request.headers as Record<string, string>;
    const characters = body.length + query.length;
    const init = { method, headers };
    const response = await server.fullPipeline({ url: `http://gateway${url}`, init, params, characters, context });
    if (response.status === 406) return notAcceptable();
    const text = await response.text();
    assertResponseSize(text);
    return { status: response.status, headers: Object.fromEntries(response.headers), body: text };
  }

  return {
    credential: 'optional',
    // Not an async function, because most requests are responded to by another one.
    handle(request) {
      const { method, headers, body } = request;
      const { accept } = headers;
      assertAcceptLength(accept);
      const params = readParams(request);
      const context = contextOf(request);
      const quick = method === 'POST' ? server.fastPath({ params, characters: body.length, accept, context }) : undefined;
      return quick ?? respondByFullPipeline(request, params, context);
    },
    renderError: (error, { headers }) => renderGraphQLError(error, headers.accept),
  };
}

const { maxAcceptLength } = graphqlLimits;

function assertAcceptLength(accept: string | undefined): void {
  if (accept === undefined || accept.length <= maxAcceptLength) return;
  throw new GatewayError(
    'INVALID_INPUT',
    `The Accept header exceeds the limit of ${maxAcceptLength} characters. Send "Accept: application/json".`,
  );
}

function notAcceptable(): HttpResponse {
  const message = `None of the media types in the Accept header is supported; available: ${acceptable}.`;
  return {
    status: 406,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ errors: [{ message, extensions: { code: 'INVALID_INPUT' } }] }),
  };
}

/** Reads the parameters with the strictness that REST has, so that a number that JSON would change is refused there too. */
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
function renderGraphQLError(error: GatewayError, accept = ''): HttpResponse {
  const type = accept.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json';
  const extensions = { code: error.code, ...(error instanceof InvalidInput && { issues: error.issues }) };
  return {
    status: errorCatalog[error.code].status,
    headers: { 'content-type': `${type}; charset=utf-8`, ...failureHeaders(error.code) },
    body: JSON.stringify({ errors: [{ message: error.message, extensions }] }),
  };
}
