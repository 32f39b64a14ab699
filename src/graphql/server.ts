import { execute, parse } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { type AdmittedDocuments, rememberAdmitted } from './admitted.ts';
import type { GraphQLContext } from './context.ts';
import { createLane, type Lane } from './lane.ts';
import { type FailureHeaders, finishErrors, publicError } from './public-error.ts';
import { schema } from './schema.ts';

/** A request's parameters as the GraphQL-over-HTTP specification names them; their types are not judged yet. */
export type GraphQLParams = Readonly<Record<string, unknown>>;

/** What the transport hands over with a request: the resolvers' context, and the request's parameters, read already. */
interface ServerContext extends GraphQLContext {
  readonly params: GraphQLParams;
}

/** The GraphQL server: two ways that answer alike. */
export interface GraphQLServer {
  /** Takes every request: parsing, validation, limits, execution, content negotiation, and the playground for browsers. */
  answer(url: string, init: RequestInit, params: GraphQLParams, context: GraphQLContext): Promise<Response>;
  /** The short way for a plain request whose document was admitted before. */
  readonly lane: Lane;
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

/** Builds the GraphQL server. @param failureHeaders the headers that go with a failure's status. */
export function createGraphQLServer(failureHeaders: FailureHeaders): GraphQLServer {
  const admitted = rememberAdmitted();
  const yoga = createYoga<ServerContext>({
    schema,
    plugins: [useReadParams(), useOneParserAndExecutor(), useAdmission(admitted), useFinishedErrors()],
    maskedErrors: { maskError: (error, message) => publicError(error, message, failureHeaders) },
    parserAndValidationCache: false,
    // The listener bounds every body before it comes here.
    maxRequestBodySize: false,
    batching: false,
    multipart: false,
    cors: false,
    landingPage: false,
    logging: false,
    // Loaded when the first browser asks: it takes 40 MB of memory.
    renderGraphiQL: async (options) => (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options ?? {}),
    graphiql: {
      title: 'User group gateway',
      defaultQuery: firstQuery,
      headers: JSON.stringify({ Authorization: 'Token ' }, null, 2),
      defaultEditorToolsVisibility: 'headers',
      shouldPersistHeaders: false,
      credentials: 'same-origin',
    },
  });
  return {
    answer: async (url, init, params, context) => yoga.fetch(url, init, { ...context, params }),
    lane: createLane(schema, admitted, failureHeaders),
  };
}

/** The transport has read the parameters, with the same reader as for REST. */
function useReadParams(): Plugin<ServerContext> {
  return {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = serverContext as unknown as ServerContext;
      setRequestParser(() => params);
    },
  };
}

/** The reference implementation parses, with a bound, and executes: the same behaviour on every way in. */
function useOneParserAndExecutor(): Plugin<ServerContext> {
  return {
    onParse: ({ setParseFn }) => setParseFn((source: string) => parse(source, { maxTokens })),
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}

/** Remembers documents that have come as far as execution: they are valid, and within every limit. */
function useAdmission(admitted: AdmittedDocuments): Plugin<ServerContext> {
  return {
    onExecute({ args: { document, contextValue } }) {
      const { query } = contextValue.params as { query?: string };
      if (query !== undefined) admitted.add(query, document);
    },
  };
}

/** Gives every error a code of the closed list, those too that come from the GraphQL machinery. */
function useFinishedErrors(): Plugin<ServerContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      const { report } = serverContext as unknown as ServerContext;
      setResult({ ...result, errors: finishErrors(result.errors, report) });
    },
  };
}
