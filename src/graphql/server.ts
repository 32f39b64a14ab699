import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { execute, GraphQLError, parse } from 'graphql';
import { createYoga, maskError, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { asGatewayError, type ErrorCode, errorKinds, InvalidInput } from '../domain/errors.ts';
import type { GraphQLContext } from './context.ts';
import { causeOf } from './prepared.ts';
import { schema } from './schema.ts';

/** What the transport hands over with a request: the resolvers' context, and the request's parameters, read already. */
export interface ServerContext extends GraphQLContext {
  readonly params: {
    query?: string;
    operationName?: string;
    variables?: Record<string, unknown>;
    extensions?: Record<string, unknown>;
  };
}

/** The most tokens (names, values, punctuation) that a document may have. The playground's introspection has about 300. */
const maxTokens = 2_000;

const firstQuery = `# Put an API token behind "Token " in the
# headers below, then press the button.
mutation {
  getOrCreateUserGroup(
    input: { providedId: "acme", name: "ACME" }
  ) {
    ... on GetOrCreateUserGroupPayload {
      created
      userGroup { teamId providedId name token }
    }
    ... on Error { code message }
  }
}
`;

/** Builds the GraphQL server: parsing, validation, limits, execution, content negotiation, and the playground for browsers. */
export function createGraphQLServer(
  retryHeaders: (code: ErrorCode) => Record<string, string>,
): YogaServerInstance<ServerContext, object> {
  return createYoga<ServerContext>({
    schema,
    plugins: [useStandardExecute(), useReadParams(), useClosedErrorCodes()],
    maskedErrors: { maskError: (error, message) => publicError(error, message, retryHeaders) },
    parserAndValidationCache: false,
    // The listener bounds every body before it comes here.
    maxRequestBodySize: false,
    batching: false,
    multipart: false,
    cors: false,
    landingPage: false,
    logging: false,
    renderGraphiQL,
    graphiql: {
      title: 'User group gateway',
      defaultQuery: firstQuery,
      headers: JSON.stringify({ Authorization: 'Token ' }, null, 2),
      defaultEditorToolsVisibility: 'headers',
      shouldPersistHeaders: false,
      credentials: 'same-origin',
    },
  });
}

/** The reference implementation executes here too, as it does for prepared operations: one behaviour for every way in. */
function useStandardExecute(): Plugin<ServerContext> {
  return {
    onParse: ({ setParseFn }) => setParseFn((source: string) => parse(source, { maxTokens })),
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}

/** The transport has read the parameters with the same reader as for REST. */
function useReadParams(): Plugin<ServerContext> {
  return {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = serverContext as unknown as ServerContext;
      setRequestParser(() => params);
    },
  };
}

/** Gives every error a code of the closed list, those too that come from the GraphQL machinery. */
function useClosedErrorCodes(): Plugin<ServerContext> {
  return {
    onResultProcess({ result, setResult }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      setResult({ ...result, errors: result.errors.map(withClosedCode) });
    },
  };
}

function withClosedCode(error: GraphQLError): GraphQLError {
  const { code, http } = error.extensions as { code?: string; http?: { status?: number } };
  if (code !== undefined && Object.hasOwn(errorKinds, code)) return error;
  const closed = http?.status === 405 ? 'METHOD_NOT_ALLOWED' : code === 'INTERNAL_SERVER_ERROR' ? 'INTERNAL' : 'INVALID_INPUT';
  return withExtensions(error, error.message, { ...error.extensions, code: closed });
}

/**
 * What a caller is told of an error: of an expected one its code and text, of any other nothing but that it happened.
 * Errors of GraphQL itself (syntax, validation) stay as they are.
 */
function publicError(error: unknown, message: string, retryHeaders: (code: ErrorCode) => Record<string, string>): Error {
  const masked = maskError(error, message, false);
  if (masked === error || !(masked instanceof GraphQLError)) return masked;
  const cause = asGatewayError(error instanceof GraphQLError ? causeOf(error) : error);
  const { status } = errorKinds[cause.code];
  return withExtensions(masked, cause.message, {
    code: cause.code,
    ...(cause instanceof InvalidInput && { issues: cause.issues }),
    ...(status >= 500 && { http: { status, headers: retryHeaders(cause.code) } }),
  });
}

/** The same error, at the same place of the document and the result, with other words. */
function withExtensions({ nodes, source, positions, path }: GraphQLError, message: string, extensions: object): GraphQLError {
  const place = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  return new GraphQLError(message, { ...place, extensions: { ...extensions } });
}
