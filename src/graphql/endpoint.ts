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
import type { Handler } from '../http/types.ts';
import { respondOnce } from '../idempotency.ts';
import { containsToken } from '../tokens.ts';
import { traceOperation } from '../tracing.ts';
import type { GraphQLContext } from './builder.ts';
import { type CompiledOperation, compileOperation } from './compile.ts';
import { costOf, graphqlLimits, parseDocument, validateDocument } from './limits.ts';
import { type Params, type PersistedOperations, readParams } from './params.ts';
import { chooseResponseType, hasPayload, renderGraphQLError, renderResult, temporaryFailure } from './response.ts';

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

  /** The operation of a request; or, as a result, why there is none. */
  function findOperation(params: Params, context: GraphQLContext): Operation | ExecutionResult {
    const { query, operationName } = params;
    const { method } = context.http;
    const cached = method === 'POST' ? documentCache.get(query) : undefined;
    const known = cached && accepted.get(cached);
    if (known && (operationName ?? known.node.name?.value) === known.node.name?.value) return known;
    const request = new Request('http://gateway/graphql', { method });
    const { parse, validate } = yoga.getEnveloped(Object.assign(context, { params, request }) as never);
    try {
      const document: DocumentNode = parse(query);
      const errors = validate(schema, document);
      if (errors.length > 0) return { errors };
      const node = getOperationAST(document, operationName);
      if (!node) return execute({ schema, document, operationName }) as ExecutionResult; // which says what is wrong with the name
      const operation = accepted.get(document) ?? { document, node, uses: 0, compiled: undefined };
      if (document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1)
        accepted.set(document, operation);
      return operation;
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] };
      throw error;
    }
  }

  async function run(operation: Operation, { variables, extensions }: Params, context: GraphQLContext): Promise<ExecutionResult> {
    const { document, node } = operation;
    const { http, caller } = context;
    const { cost, roots } = costOf(node);
    http.operation = nameOf(node, caller);
    operation.uses += 1;
    if (operation.uses === usesBeforeCompiling && (document.loc?.end ?? 0) <= maxCompiledCharacters)
      operation.compiled = compileOperation(schema, document);
    const result = await traceOperation(node.operation, http.operation, async () => {
      if (roots > 0 && !caller.apiToken) return rejection(new Unauthenticated(credentialRequired));
      if (roots > 1 && context.isInTransaction) return rejection(severalMutations());
      const compiled = await operation.compiled?.(undefined, context, variables ?? {});
      if (compiled?.data !== undefined) return compiled;
      // Also for variables of the wrong type, about which graphql-jit says something else.
      const options = { maxCoercionErrors: 3 }; // each prints the whole value
      const args = { schema, document, contextValue: context, variableValues: variables, operationName: node.name?.value };
      return execute({ ...args, hideSuggestions: !introspection, options });
    });
    return extensions?.['cost'] === true ? { ...result, extensions: { cost: { cost, limit: maxCost } } } : result;
  }

  return {
    async handle(http) {
      const type = chooseResponseType(http.headers.accept);
      if (http.headers['if-match'] !== undefined) throw noPreconditions();
      const params = readParams(http, persistedOperations);
      const context: GraphQLContext = { ...contextOf(app, http.caller, http.isAbandoned), http };
      const found = findOperation(params, context);
      if (!('node' in found)) return renderResult(found, type, http);
      const isMutation = found.node.operation === OperationTypeNode.MUTATION;
      if (!isMutation || http.idempotencyKey === undefined) {
        const result = await run(found, params, context);
        if (http.isAbandoned()) throw abandoned(); // a large result need not be written
        return renderResult(result, type, http, isMutation);
      }
      return respondOnce(context, http, `POST /graphql\n${http.body}`, async (inner) => {
        const result = await run(found, params, inner);
        // What is kept must be whole: it would lack the same part each time that it is sent.
        const failure = temporaryFailure(result);
        if (failure) throw undone(failure);
        const isRefused = inner.outcome === 'refused' || !hasPayload(result.data);
        return { response: renderResult(result, type, http, true), isRefused };
      });
    },
    renderError: (error, { headers }) => renderGraphQLError(error, chooseResponseType(headers.accept)),
  };
}

const boundedCache = <Value extends object>(maxSize: number) =>
  new LRUCache<string, Value>({ maxSize, maxEntrySize: maxDocumentCharacters, sizeCalculation: (_, text) => text.length + 1 });

const rejection = (error: GatewayError): ExecutionResult => ({
  errors: [new GraphQLError(error.message, { originalError: error })],
});

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
