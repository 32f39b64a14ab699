import {
  type DocumentNode,
  type ExecutionArgs,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type ValidationRule,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { createTurnstile } from '../../concurrency.ts';
import { GraphQLMetrics } from '../../metrics/graphql-metrics.ts';
import { tracing } from '../../tracing/tracing.ts';
import type { GraphQLContext } from '../schema/context.ts';
import { graphqlLimits, longDocumentLength } from '../schema/limits.ts';
import { schema } from '../schema/schema.ts';
import { createDocumentCache, type DocumentCache } from './document-cache.ts';
import { type FailureHeaders, finishResult, publicError } from './error-masking.ts';
import { createOperationExecutor, type OperationExecutor } from './execute.ts';
import { createFastPath, type FastPath } from './fast-path.ts';
import { JsonVariablesRule } from './json-variables.ts';
import { parseDocument } from './parse-document.ts';
import { type LargeBody, serializedTo } from './serialize.ts';
import { traceOperations } from './traced.ts';

/** A request's parameters as the GraphQL-over-HTTP specification names them; their types are not validated yet. */
export type GraphQLParams = Readonly<Record<string, unknown>>;

/** What the transport hands over with a request. */
export interface PipelineRequest {
  readonly url: string;
  readonly init: RequestInit;
  /** Read from the body or the query string already. */
  readonly params: GraphQLParams;
  /** At least as many characters as the variables have as JSON. */
  readonly characters: number;
  readonly context: GraphQLContext;
}

/** What the full pipeline responds with. */
export interface PipelineResponse {
  readonly response: Response;
  /** The body of a large response; that of `response` is then empty. */
  readonly large: LargeBody;
}

/** The GraphQL server: two ways through it, with equal responses. */
export interface GraphQLServer {
  /**
   * Takes every request: parsing, validation, limits, execution, and content negotiation. Long documents wait for their turn,
   * unless the request has a transaction, which only requests have that waited before.
   */
  fullPipeline(request: PipelineRequest): Promise<PipelineResponse>;
  /** Takes plain requests with documents that the full pipeline executed before. */
  readonly fastPath: FastPath;
  /** Runs work that executes a costly operation when it is its turn. */
  readonly inTurn: OperationExecutor['inTurn'];
}

/** How many long documents may wait to be parsed. */
const maxWaitingDocuments = 200;

/** What Yoga's plugins find of a request. */
type ServerContext = GraphQLContext & Pick<PipelineRequest, 'params' | 'characters'> & Pick<PipelineResponse, 'large'>;

/** What an operator may choose. */
export interface GraphQLServerOptions {
  /** Whether the schema can be read through introspection, as the playground and code generators do. */
  readonly introspection: boolean;
  /** What it counts. By default it is not read. */
  readonly graphqlMetrics?: GraphQLMetrics | undefined;
}

/** Builds the GraphQL server. @param failureHeaders the headers that go with a failure's status. */
export function createGraphQLServer(
  failureHeaders: FailureHeaders,
  { introspection, graphqlMetrics = new GraphQLMetrics() }: GraphQLServerOptions,
): GraphQLServer {
  const documents = createDocumentCache(graphqlMetrics);
  const untraced = createOperationExecutor(schema, failureHeaders, graphqlMetrics);
  const executor = tracing.active ? traceOperations(untraced, graphqlMetrics.names, tracing.active) : untraced;
  const turnstile = createTurnstile(maxWaitingDocuments);
  graphqlMetrics.waitingDocuments = () => turnstile.waiting;
  const yoga = createYoga<ServerContext>({
    schema,
    plugins: [
      useReadParams(),
      useParserWithLimits(),
      ...(introspection ? [] : [useNoIntrospection()]),
      useExecutor(executor, documents),
      useFinishedErrors(),
    ],
    maskedErrors: { maskError: (error, message) => publicError(error, message, failureHeaders) },
    parserAndValidationCache: false,
    // The listener bounds every body before it comes here.
    maxRequestBodySize: false,
    batching: false,
    multipart: false,
    cors: false,
    landingPage: false,
    logging: false,
    graphiql: false,
  });
  return {
    async fullPipeline({ url, init, params, characters, context }) {
      const { query } = params;
      const isLong = typeof query === 'string' && query.length > longDocumentLength;
      if (isLong && !context.turn) await turnstile.enter(context.caller.share);
      const large: LargeBody = {};
      return { response: await yoga.fetch(url, init, { ...context, params, characters, large }), large };
    },
    fastPath: createFastPath(executor, documents, failureHeaders),
    inTurn: executor.inTurn,
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

const { maxErrors } = graphqlLimits;

function useParserWithLimits(): Plugin<ServerContext> {
  return {
    onValidate({ addValidationRule, setValidationFn }) {
      addValidationRule(JsonVariablesRule);
      setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules?: readonly ValidationRule[]) =>
        validate(schema, document, rules, { maxErrors }),
      );
    },
    onParse: ({ setParseFn }) => setParseFn(parseDocument),
  };
}

function useNoIntrospection(): Plugin<ServerContext> {
  return { onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule) };
}

/** Executes within the limits, and caches documents that reached execution: they are valid. */
function useExecutor(executor: OperationExecutor, documents: DocumentCache): Plugin<ServerContext> {
  async function run(args: ExecutionArgs) {
    const { document, operationName, variableValues: variables, contextValue } = args;
    const operation = getOperationAST(document, operationName);
    if (!operation) return execute(args); // which says what is wrong with the operation's name
    const context = contextValue as ServerContext;
    const { params, characters } = context;
    const known = executor.examine(document, operation);
    const result = serializedTo(context.large, await executor.run(known, { variables, characters, context }), context);
    const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    if (result.data !== undefined && operations.length === 1) documents.add(params['query'] as string, known);
    const { cost } = (params['extensions'] ?? {}) as { cost?: unknown };
    return cost === true ? { ...result, extensions: { ...result.extensions, cost: executor.costOf(known, variables) } } : result;
  }
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(run),
    onSubscribe: ({ setSubscribeFn }) =>
      setSubscribeFn(() => ({ errors: [new GraphQLError('Subscriptions are not supported. Send a query or a mutation.')] })),
  };
}

/** Gives every error a code of the error catalog, including those of graphql-js and Yoga. */
function useFinishedErrors(): Plugin<ServerContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      setResult(finishResult(result, serverContext as unknown as ServerContext));
    },
  };
}
