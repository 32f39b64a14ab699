import { type ErrorCode, errorCatalog, GatewayError, InvalidInput } from '../../domain/errors.ts';
import type { ExecuteOnce } from '../../domain/idempotency.ts';
import { assertSameInBody } from '../../http/beside-body.ts';
import { jsonObject } from '../../http/body.ts';
import { hasIdempotencyKey, respondOnce } from '../../http/idempotency.ts';
import { parseJson, parseQuery } from '../../http/json.ts';
import { inUtf8, mediaTypes } from '../../http/media-types.ts';
import { type Failure, headersOf } from '../../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse, ResponseBody } from '../../http/types.ts';
import type { ContextOf, GraphQLContext, Turn } from '../schema/context.ts';
import { graphqlLimits } from '../schema/limits.ts';
import { assertResponseSize } from '../schema/response-meter.ts';
import { createMutationFinder, keyedContentOf, keyedResponseOf } from './keyed-mutations.ts';
import type { PersistedOperations } from './persisted-operations.ts';
import { createGraphQLServer, type GraphQLParams, type GraphQLServerOptions } from './server.ts';

const { maxAcceptLength } = graphqlLimits;

/** The methods of the GraphQL endpoint. */
export const graphqlMethods = ['GET', 'POST'] as const;

/** What an operator may choose. */
export interface GraphQLHandlerOptions extends GraphQLServerOptions {
  /** The only documents that are executed. Any document if not given. */
  readonly persistedOperations?: PersistedOperations | undefined;
}

/**
 * Creates the handler of the GraphQL endpoint.
 *
 * @param contextOf creates the context of the resolvers for a request.
 * @param executeOnce executes mutations with an Idempotency-Key.
 */
export function graphqlHandler(
  contextOf: ContextOf,
  executeOnce: ExecuteOnce,
  { persistedOperations, ...serverOptions }: GraphQLHandlerOptions,
): Handler {
  const server = createGraphQLServer(headersOf, serverOptions);
  const isMutation = createMutationFinder();

  function respond(request: HttpRequest, params: GraphQLParams, context: GraphQLContext): Promise<HttpResponse<ResponseBody>> {
    const { method, headers, body } = request;
    const { accept } = headers;
    const fast = method === 'POST' ? server.fastPath({ params, characters: body.length, accept, context }) : undefined;
    return fast ?? respondByFullPipeline(request, params, context);
  }

  /** The key counts for mutations only: queries change nothing, and are to see what is stored now. */
  async function respondWithKey(request: HttpRequest, params: GraphQLParams): Promise<HttpResponse<ResponseBody>> {
    if (!(await isMutation(params, request.caller.share))) return respond(request, params, contextOf(request));
    const turn: Turn = { isTaken: false, isNeeded: false };
    const response = await respondInTurn(request, params, turn);
    if (!turn.isNeeded) return response;
    return server.inTurn(request, () => respondInTurn(request, params, { isTaken: true, isNeeded: false }));
  }

  function respondInTurn(request: HttpRequest, params: GraphQLParams, turn: Turn): Promise<HttpResponse> {
    return respondOnce(executeOnce, request, keyedContentOf(params), async (db) => {
      const codes = new Set<ErrorCode>();
      const countError = (code: ErrorCode): void => void codes.add(code);
      const { body, ...head } = await respond(request, params, contextOf(request, db, countError, turn));
      const response = { ...head, body: String(body) };
      if (turn.isNeeded) return { response, isKept: false };
      for (const code of codes) request.countError(code);
      return keyedResponseOf(response, codes);
    });
  }

  async function respondByFullPipeline(
    request: HttpRequest,
    params: GraphQLParams,
    context: GraphQLContext,
  ): Promise<HttpResponse<ResponseBody>> {
    const { method, url, body, query } = request;
    const init = { method, headers: request.headers as Record<string, string> };
    const characters = body.length + query.length;
    const { response, large } = await server.fullPipeline({ url: `http://gateway${url}`, init, params, characters, context });
    if (response.status === 406) return notAcceptable();
    const content = large.bytes ?? (await response.text());
    assertResponseSize(content);
    const headers = Object.fromEntries(response.headers);
    const isPage = response.headers.get('content-type')?.startsWith(mediaTypes.html);
    return {
      status: response.status,
      headers: isPage ? { ...headers, 'content-security-policy': playgroundPolicy } : headers,
      body: content,
    };
  }

  return {
    // Not an async function, because most requests are responded to by another one.
    handle(request) {
      const { accept } = request.headers;
      if (accept !== undefined && accept.length > maxAcceptLength) throw acceptTooLong();
      if (request.headers['if-match'] !== undefined) throw noPreconditions();
      const given = readParams(request);
      const params = persistedOperations ? persistedOperations.resolve(given) : given;
      if (hasIdempotencyKey(request) && request.method === 'POST') return respondWithKey(request, params);
      return respond(request, params, contextOf(request));
    },
    renderError: (error, { headers }) => renderGraphQLError(error, headers.accept),
  };
}

/** What the playground allows others; its own scripts are inline. */
const playgroundPolicy = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'";

function acceptTooLong(): GatewayError {
  return new GatewayError(
    'INVALID_INPUT',
    `The Accept header exceeds the limit of ${maxAcceptLength} characters. Send "Accept: ${mediaTypes.json}".`,
  );
}

/** A document may change several groups, so the header would not say which of them it is about. */
function noPreconditions(): GatewayError {
  return new GatewayError(
    'INVALID_INPUT',
    'If-Match is not supported on this path. Send the version as expectedVersion in the input of the mutation.',
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
  if (request.method === 'POST') {
    const params = jsonObject(request, 'Send {"query": "…", "variables": {…}}.');
    if (request.query !== '') {
      const given = [...new URLSearchParams(request.query)];
      assertSameInBody(
        given.filter(([name]) => parameterNames.has(name)),
        params,
      );
    }
    return params;
  }
  const parameters = new Map<string, string>();
  for (const [name, value] of parseQuery(request.query)) {
    if (parameters.has(name)) throw new InvalidInput([{ path: [name], message: 'is given more than once.' }]);
    parameters.set(name, value);
  }
  const given: Record<string, string> = Object.fromEntries(parameters);
  const { variables, extensions } = given;
  return {
    ...given,
    ...(variables && { variables: parseJson(variables, 'The parameter variables') }),
    ...(extensions && { extensions: parseJson(extensions, 'The parameter extensions') }),
  };
}

const parameterNames: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId']);

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
