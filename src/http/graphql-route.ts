import { errorKinds, type GatewayError, InvalidInput } from '../domain/errors.ts';
import { jsonObject } from './body.ts';
import type { Answer, GatewayRequest, Route } from './exchange.ts';
import { parseJson, parseQuery } from './json.ts';
import { failureHeaders } from './problem.ts';

/** A request's parameters as the GraphQL-over-HTTP specification names them; their types are judged by the server. */
type GraphQLParams = Readonly<Record<string, unknown>>;

/** What executes requests that are read already. */
export interface GraphQLHandlers {
  /** Answers a plain request that it knows at once; nothing, if it has to go the long way. */
  lane(params: GraphQLParams, request: GatewayRequest): Promise<Answer | undefined>;
  /** Answers any request, and negotiates the form of the answer. */
  answer(url: string, init: RequestInit, params: GraphQLParams, request: GatewayRequest): Promise<Response>;
}

/** The route of the GraphQL endpoint. */
export function graphqlRoute(handlers: GraphQLHandlers): Route {
  return {
    credential: 'optional',
    async answer(request) {
      const { method, url } = request;
      const params = readParams(request);
      const answer = method === 'POST' ? await handlers.lane(params, request) : undefined;
      if (answer) return answer;
      const headers = request.headers as Record<string, string>;
      const response = await handlers.answer(`http://gateway${url}`, { method, headers }, params, request);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
    },
    failure: (error, { headers }) => graphqlFailure(error, headers.accept),
  };
}

/** Reads the parameters with the strictness that REST has, so that a number that JSON would change is told there too. */
function readParams(request: GatewayRequest): GraphQLParams {
  if (request.method === 'POST') return jsonObject(request, 'Send {"query": "…", "variables": {…}}.');
  const given = Object.fromEntries(parseQuery(request.query));
  const { variables, extensions } = given;
  return {
    ...given,
    ...(variables && { variables: parseJson(variables, 'The parameter variables') }),
    ...(extensions && { extensions: parseJson(extensions, 'The parameter extensions') }),
  };
}

/** A failure of the whole request, in the form of a GraphQL answer. */
function graphqlFailure(error: GatewayError, accept = ''): Answer {
  const type = accept.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json';
  const extensions = { code: error.code, ...(error instanceof InvalidInput && { issues: error.issues }) };
  return {
    status: errorKinds[error.code].status,
    headers: { 'content-type': `${type}; charset=utf-8`, ...failureHeaders(error.code) },
    body: JSON.stringify({ errors: [{ message: error.message, extensions }] }),
  };
}
