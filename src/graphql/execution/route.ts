import { errorCatalog, GatewayError, InvalidInput } from '../../domain/errors.ts';
import { jsonObject } from '../../http/body.ts';
import { parseJson, parseQuery } from '../../http/json.ts';
import { failureHeaders } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/types.ts';

/** A request's parameters as the GraphQL-over-HTTP specification names them; their types are judged by the server. */
type GraphQLParams = Readonly<Record<string, unknown>>;

/** What executes requests that are read already. */
export interface GraphQLHandlers {
  /** Responds to a plain request whose document is known; nothing, if it has to go through the full pipeline. */
  fastPath(params: GraphQLParams, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** Responds to any request, and negotiates the form of the response. */
  fullPipeline(url: string, init: RequestInit, params: GraphQLParams, request: HttpRequest): Promise<Response>;
  /** The greatest size of a response body, in bytes, and what a larger one is replaced by. */
  readonly maxResponseBytes: number;
  responseTooLarge(): GatewayError;
  /** The most characters of an `Accept` header. */
  readonly maxAcceptLength: number;
}

const acceptable = 'application/graphql-response+json, application/json';

/** The route of the GraphQL endpoint. */
export function graphqlRoute(handlers: GraphQLHandlers): Route {
  const { maxAcceptLength, maxResponseBytes } = handlers;

  async function respond(request: HttpRequest): Promise<HttpResponse> {
    const { method, url } = request;
    const { accept = '' } = request.headers;
    if (accept.length > maxAcceptLength) {
      throw new GatewayError(
        'INVALID_INPUT',
        `The Accept header exceeds the limit of ${maxAcceptLength} characters. Send "Accept: application/json".`,
      );
    }
    const params = await readParams(request);
    const quick = method === 'POST' ? await handlers.fastPath(params, request) : undefined;
    if (quick) return quick;
    const headers = request.headers as Record<string, string>;
    const response = await handlers.fullPipeline(`http://gateway${url}`, { method, headers }, params, request);
    if (response.status === 406) return notAcceptable();
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  }

  return {
    credential: 'optional',
    async handle(request) {
      const response = await respond(request);
      const isLarge = response.body.length > maxResponseBytes / 4 && Buffer.byteLength(response.body) > maxResponseBytes;
      if (isLarge) throw handlers.responseTooLarge();
      return response;
    },
    renderError: (error, { headers }) => renderGraphQLError(error, headers.accept),
  };
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
async function readParams(request: HttpRequest): Promise<GraphQLParams> {
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
