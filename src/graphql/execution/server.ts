import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type ValidationRule,
  validate,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { heavyWork } from '../../concurrency/heavy-work.ts';
import { mediaTypes } from '../../http/media-types.ts';
import type { HttpResponse } from '../../http/types.ts';
import type { GraphQLContext } from '../context.ts';
import { graphqlLimits, longDocumentLength } from '../limits.ts';
import { parseDocument } from './documents.ts';
import { createOperationExecutor, type OperationExecutor } from './execute.ts';
import { createDocumentCache, createFastPath, type DocumentCache, type FastPath, type GraphQLRequest } from './fast-path.ts';
import { publicError, renderResult } from './response.ts';
import { createDocumentReader, validationRules } from './validation.ts';

/** The GraphQL server: two ways through it, with equal responses. */
export interface GraphQLServer {
  /**
   * Takes every request: parsing, validation, limits and execution. Long documents are queued, unless the
   * request has a transaction, which only requests have that waited before.
   */
  fullPipeline(request: GraphQLRequest): Promise<HttpResponse>;
  /** Takes plain requests with valid documents, unless these are long and not in the cache. */
  readonly fastPath: FastPath;
  /** Executes costly operations that hold a transaction. */
  readonly executor: Pick<OperationExecutor, 'runQueued' | 'isHeavy'>;
}

/** What Yoga's plugins find of a request. */
type ServerContext = GraphQLContext & Pick<GraphQLRequest, 'params' | 'characters'> & { readonly outcome: Outcome };

/** Where the result of a request is put. */
interface Outcome {
  result?: ExecutionResult;
}

/** What an operator may choose. */
export interface GraphQLServerOptions {
  /** Whether the schema can be read through introspection, as the playground and code generators do. */
  readonly introspection: boolean;
}

/** Builds the GraphQL server of a schema. */
export function createGraphQLServer(schema: GraphQLSchema, { introspection }: GraphQLServerOptions): GraphQLServer {
  const documents = createDocumentCache();
  const rules = validationRules(introspection);
  const executor = createOperationExecutor(schema);
  const yoga = createYoga<ServerContext>({
    schema,
    plugins: [useReadParams(), useOwnDocuments(rules), useExecutor(executor, documents), useOwnResponse()],
    maskedErrors: { maskError: publicError },
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
    async fullPipeline({ method, params, characters, type, context }) {
      const { query } = params;
      const isLong = typeof query === 'string' && query.length > longDocumentLength;
      if (isLong && !context.isInTransaction) await heavyWork.enter(context.caller);
      const outcome: Outcome = {};
      await yoga.fetch('http://gateway/graphql', { method }, { ...context, params, characters, outcome });
      if (!outcome.result) throw new Error('Yoga had no result.');
      return renderResult(outcome.result, type, context);
    },
    fastPath: createFastPath(executor, documents, createDocumentReader(schema, rules)),
    executor,
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

/** Has documents parsed within the limits, and validated by our rules. */
function useOwnDocuments(rules: readonly ValidationRule[]): Plugin<ServerContext> {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseDocument),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) => validate(schema, document, rules, { maxErrors })),
  };
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
    const result = await executor.run(known, { variables, characters, context });
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

/** Takes the result instead of having Yoga render it: the fast path and the full pipeline render alike. */
function useOwnResponse(): Plugin<ServerContext> {
  return {
    onResultProcess({ result, setResultProcessor, serverContext }) {
      (serverContext as unknown as ServerContext).outcome.result = result as ExecutionResult;
      setResultProcessor((_, { Response }) => new Response(), mediaTypes.json);
    },
  };
}
