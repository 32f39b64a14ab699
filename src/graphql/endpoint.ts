import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { type App, contextOf } from '../app.ts';
import { type Caller, credentialRequired } from '../caller.ts';
import { abandoned, GatewayError, Unauthenticated } from '../errors.ts';
import type { Handler, HttpRequest, HttpResponse } from '../http/types.ts';
import { respondOnce } from '../idempotency.ts';
import { containsToken } from '../tokens.ts';
import { traceOperation } from '../tracing.ts';
import type { GraphQLContext } from './builder.ts';
import { type CompiledOperation, compileOperation } from './compile.ts';
import { costOf, graphqlLimits, parseDocument, validateDocument } from './limits.ts';
import { type Params, type PersistedOperations, readParams } from './params.ts';
import {
  chooseResponseType,
  hasPayload,
  type ResponseType,
  renderGraphQLError,
  renderResult,
  temporaryFailure,
} from './response.ts';

const { maxCost, maxDocumentCharacters } = graphqlLimits;

/** The methods of the GraphQL endpoint. */
export const graphqlMethods = ['GET', 'POST'] as const;

/** What an operator may choose. */
export interface GraphQLHandlerOptions {
  /** Whether the schema can be read through introspection, as the playground and code generators do. */
  readonly introspection: boolean;
  /** The only documents that are executed. Any document if not given. */
  readonly persistedOperations?: PersistedOperations | undefined;
}

/** How many characters of documents Yoga keeps, parsed and validated, and of those with syntax errors. */
const keptCharacters = 3 * 2 ** 20;
const keptErrorCharacters = 2 ** 20;

/** How often an operation is executed before it is compiled, which costs as much as ten to a hundred executions. */
const usesBeforeCompiling = 3;

/** The longest document that is compiled: the function grows with it. */
const maxCompiledCharacters = 4_096;

/** An operation of a document that Yoga has accepted. */
interface Operation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  uses: number;
  compiled: CompiledOperation | undefined;
}

/** Creates the handler of the GraphQL endpoint. */
export function graphqlHandler(
  schema: GraphQLSchema,
  app: App,
  { introspection, persistedOperations }: GraphQLHandlerOptions,
): Handler {
  const nameOf = createOperationNames();
  const documentCache = boundedCache<DocumentNode>(keptCharacters);
  /** The operations that the fast path executes: the only ones of their documents. */
  const accepted = new WeakMap<DocumentNode, Operation>();

  const plugin: Plugin<GraphQLContext> = {
    onParse: ({ setParseFn }) => setParseFn(parseDocument),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((_: GraphQLSchema, document: DocumentNode) => validateDocument(schema, document, introspection)),
  };
  const yoga = createYoga<GraphQLContext>({
    schema,
    plugins: [plugin],
    parserAndValidationCache: { documentCache, errorCache: boundedCache<Error>(keptErrorCharacters) },
    maskedErrors: false, // both ways mask errors as they render them
    logging: false,
    graphiql: false,
  });

  function run(operation: Operation, variables: Params['variables'], context: GraphQLContext): Promise<ExecutionResult> {
    const { document, node } = operation;
    const { http, caller } = context;
    const { roots } = costOf(node);
    http.operation = nameOf(node, caller);
    context.isMutation = node.operation === OperationTypeNode.MUTATION;
    if (roots > 0 && !caller.apiToken) return Promise.resolve(rejection(new Unauthenticated(credentialRequired)));
    if (roots > 1 && context.isMutation && http.idempotencyKey !== undefined)
      return Promise.resolve(rejection(severalMutations()));
    operation.uses += 1;
    if (operation.uses === usesBeforeCompiling && (document.loc?.end ?? 0) <= maxCompiledCharacters)
      operation.compiled = compileOperation(schema, document);
    const work = async () => {
      const compiled = await operation.compiled?.(undefined, context, variables ?? {});
      if (compiled?.data !== undefined) return compiled;
      // Also for variables of the wrong type, about which graphql-jit says something else.
      const options = { maxCoercionErrors: 3 }; // each prints the whole value
      const args = { schema, document, contextValue: context, variableValues: variables, operationName: node.name?.value };
      return execute({ ...args, hideSuggestions: !introspection, options });
    };
    return traceOperation(node.operation, http.operation, work);
  }

  /** The operation of a plain request whose document Yoga has accepted before; nothing if it has not. */
  function findAccepted({ query, operationName, extensions }: Params, method: string): Operation | undefined {
    const document = method === 'POST' && extensions?.['cost'] !== true && documentCache.get(query);
    const operation = document ? accepted.get(document) : undefined;
    const name = operation?.node.name?.value;
    return (operationName ?? name) === name ? operation : undefined;
  }

  async function runEitherWay(params: Params, context: GraphQLContext): Promise<ExecutionResult> {
    const { query, operationName, variables, extensions } = params;
    const { method } = context.http;
    const known = findAccepted(params, method);
    if (known) return run(known, variables, context);
    const request = new Request('http://gateway/graphql', { method });
    const { parse, validate } = yoga.getEnveloped(Object.assign(context, { params, request }) as never);
    try {
      const document: DocumentNode = parse(query);
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors };
      const node = getOperationAST(document, operationName);
      if (!node) return execute({ schema, document, operationName }); // which says what is wrong with the name
      const operation = accepted.get(document) ?? { document, node, uses: 0, compiled: undefined };
      if (document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1)
        accepted.set(document, operation);
      const result = await run(operation, variables, context);
      if (extensions?.['cost'] !== true) return result;
      const { cost } = costOf(node);
      return { ...result, extensions: { cost: { cost, limit: maxCost } } };
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  async function respond(request: HttpRequest, params: Params, type: ResponseType): Promise<HttpResponse> {
    const context = contextOfRequest(request);
    const result = await runEitherWay(params, context);
    if (request.isAbandoned()) throw abandoned(); // a large result need not be written
    return renderResult(result, type, request, context.isMutation);
  }

  const contextOfRequest = (http: HttpRequest): GraphQLContext => ({
    ...contextOf(app, http.caller, http.isAbandoned),
    http,
  });

  /** Whether a request executes a mutation, for which its Idempotency-Key counts. */
  function isKeyedMutation({ query, operationName }: Params): boolean {
    const document = documentCache.get(query) ?? parseOrNothing(query);
    return (document && getOperationAST(document, operationName))?.operation === OperationTypeNode.MUTATION;
  }

  /** What is kept must be whole: it would lack the same part each time that it is sent. */
  function respondWithKey(request: HttpRequest, params: Params, type: ResponseType): Promise<HttpResponse> {
    return respondOnce(contextOfRequest(request), request, `POST /graphql\n${request.body}`, async (context) => {
      const result = await runEitherWay(params, context);
      const failure = temporaryFailure(result);
      if (failure) throw undone(failure);
      const isRefused = context.outcome === 'refused' || !hasPayload(result.data);
      return { response: renderResult(result, type, request, true), isRefused };
    });
  }

  return {
    handle(request) {
      const type = chooseResponseType(request.headers.accept);
      const { 'if-match': ifMatch } = request.headers;
      if (ifMatch !== undefined) throw noPreconditions();
      const params = readParams(request, persistedOperations);
      const isKeyed = request.idempotencyKey !== undefined && request.method === 'POST' && isKeyedMutation(params);
      return isKeyed ? respondWithKey(request, params, type) : respond(request, params, type);
    },
    renderError: (error, { headers }) => renderGraphQLError(error, chooseResponseType(headers.accept)),
  };
}

const boundedCache = <Value extends object>(maxSize: number) =>
  new LRUCache<string, Value>({ maxSize, maxEntrySize: maxDocumentCharacters, sizeCalculation: (_, text) => text.length + 1 });

const rejection = (error: GatewayError): ExecutionResult => ({
  errors: [new GraphQLError(error.message, { originalError: error })],
});

function parseOrNothing(text: string): DocumentNode | undefined {
  try {
    return parseDocument(text);
  } catch {
    return undefined; // Yoga reports why
  }
}

/** How many names are shown, and how long each may be: every name is a series in the metrics. */
const maxOperationNames = 100;
const maxNameLength = 64;

/** Clients choose the names of operations, so those that metrics, logs and traces show are bounded. */
function createOperationNames() {
  const names = new Set<string>();
  return ({ name }: OperationDefinitionNode, { apiToken }: Caller): string => {
    if (!name) return 'anonymous';
    if (names.has(name.value)) return name.value;
    const isShown =
      apiToken && names.size < maxOperationNames && name.value.length <= maxNameLength && !containsToken(name.value);
    if (!isShown) return 'other';
    names.add(name.value);
    return name.value;
  };
}

const severalMutations = (): GatewayError =>
  new GatewayError(
    'INVALID_INPUT',
    'A request with an Idempotency-Key can have one mutation. Send one request with a key of its own for each, or use ' +
      'getOrCreateUserGroups for many groups.',
  );

/** The failure of a mutation whose changes are undone. */
const undone = ({ code, message, cause }: GatewayError): GatewayError =>
  new GatewayError(code, `${message.split(/\.(?: |$)/)[0]}. Nothing was changed. Send the same request again.`, { cause });

/** A document may change several groups, so the header would not say which of them it is about. */
const noPreconditions = (): GatewayError =>
  new GatewayError(
    'INVALID_INPUT',
    'If-Match is not supported on this path. Send the version as expectedVersion in the input of the mutation.',
  );
