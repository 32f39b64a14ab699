import type { GraphQLSchema } from 'graphql';
import { type App, contextOf } from '../../app.ts';
import { type ErrorCode, errorCatalog } from '../../error-catalog.ts';
import { GatewayError, InvalidInput } from '../../errors.ts';
import { assertSameInBody, jsonObject } from '../../http/body.ts';
import { inUtf8, mediaTypes } from '../../http/media-types.ts';
import { type Failure, headersOf } from '../../http/problem.ts';
import type { Handler, HttpRequest, HttpResponse } from '../../http/types.ts';
import { respondOnce } from '../../idempotency.ts';
import { parseJson, parseQuery } from '../../json.ts';
import type { GraphQLContext } from '../context.ts';
import { ResponseMeter } from '../field-plugin.ts';
import { graphqlLimits } from '../limits.ts';
import type { GraphQLParams } from './fast-path.ts';
import { findMutation, hasWholeResult } from './keyed-mutations.ts';
import type { PersistedOperations } from './persisted-operations.ts';
import { chooseResponseType, type ResponseType } from './response.ts';
import { createGraphQLServer, type GraphQLServerOptions } from './server.ts';

const { maxAcceptLength } = graphqlLimits;

/** The methods of the GraphQL endpoint. */
export const graphqlMethods = ['GET', 'POST'] as const;

/** What an operator may choose. */
export interface GraphQLHandlerOptions extends GraphQLServerOptions {
  /** The only documents that are executed. Any document if not given. */
  readonly persistedOperations?: PersistedOperations | undefined;
}

/** Creates the handler of the GraphQL endpoint. */
export function graphqlHandler(
  schema: GraphQLSchema,
  app: App,
  { metrics, instance }: Pick<GraphQLContext, 'metrics' | 'instance'>,
  { persistedOperations, ...serverOptions }: GraphQLHandlerOptions,
): Handler {
  const server = createGraphQLServer(schema, serverOptions);

  function contextOfRequest(request: HttpRequest): GraphQLContext {
    return {
      ...contextOf(app, request.caller, request.isAbandoned),
      report: request.report,
      countError: request.countError,
      metrics,
      instance,
      operationInfo: request,
      meter: new ResponseMeter(request.responseRoom),
      pause: (wait) => wait(),
    };
  }

  function respond(
    { method, body, query }: HttpRequest,
    params: GraphQLParams,
    type: ResponseType,
    context: GraphQLContext,
  ): Promise<HttpResponse> {
    const request = { method, params, characters: body.length + query.length, type, context };
    return (method === 'POST' ? server.fastPath(request) : undefined) ?? server.fullPipeline(request);
  }

  /** The key counts for mutations only: queries change nothing, and are to see what is stored now. */
  async function respondWithKey(request: HttpRequest, params: GraphQLParams, type: ResponseType): Promise<HttpResponse> {
    const mutation = await findMutation(params, request.caller);
    if (!mutation) return respond(request, params, type, contextOfRequest(request));
    const { document, operation } = mutation;
    const isHeavy = server.executor.isHeavy(document, operation, params['variables']);
    return isHeavy
      ? server.executor.runQueued(request, () => mutateOnce(request, params, type))
      : mutateOnce(request, params, type);
  }

  function mutateOnce(request: HttpRequest, params: GraphQLParams, type: ResponseType): Promise<HttpResponse> {
    return respondOnce(contextOfRequest(request), request, `POST /graphql\n${request.body}`, async (context) => {
      const codes = new Set<ErrorCode>();
      const countError = (code: ErrorCode): void => {
        codes.add(code);
        request.countError(code);
      };
      const response = await respond(request, params, type, { ...context, countError });
      return { response, isRefused: !hasWholeResult(response, codes) || context.operationInfo.isRefused === true };
    });
  }

  return {
    // Not an async function, because most requests are responded to by another one.
    handle(request) {
      const { accept } = request.headers;
      if (accept !== undefined && accept.length > maxAcceptLength) throw acceptTooLong();
      if (request.headers['if-match'] !== undefined) throw noPreconditions();
      const given = readParams(request);
      const params = persistedOperations ? persistedOperations.resolve(given) : given;
      const type = chooseResponseType(accept);
      if (!type) {
        request.countError('INVALID_INPUT');
        return notAcceptable();
      }
      if (request.idempotencyKey !== undefined && request.method === 'POST') return respondWithKey(request, params, type);
      return respond(request, params, type, contextOfRequest(request));
    },
    renderError: (error, { headers }) => renderGraphQLError(error, chooseResponseType(headers.accept)),
  };
}

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
      // Also `variables[name]`, as some clients write objects.
      const given = [...new URLSearchParams(request.query)].filter(([name]) => parameterNames.has(name.replace(/[[.].*/s, '')));
      assertSameInBody(given, params);
    }
    return params;
  }
  if (request.body.length > 0) throw new InvalidInput([{ path: [], message: 'is in the body of a GET; send it with POST.' }]);
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
function renderGraphQLError(error: Failure, type: ResponseType = mediaTypes.json): HttpResponse {
  const extensions = { code: error.code, ...(error instanceof InvalidInput && { issues: error.issues }) };
  return {
    status: errorCatalog[error.code].status,
    headers: { 'content-type': inUtf8(type), ...headersOf(error) },
    body: JSON.stringify({ errors: [{ message: error.message, extensions }] }),
  };
}
