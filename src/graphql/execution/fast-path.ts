import { getOperationAST, OperationTypeNode } from 'graphql';
import type { HttpResponse } from '../../http/types.ts';
import type { GraphQLContext } from '../context.ts';
import type { DocumentCache } from './documents.ts';
import type { KnownOperation, OperationExecutor } from './execute.ts';
import { type ResponseType, renderResult } from './response.ts';
import type { ReadDocument } from './validation.ts';

/** A request's parameters as the GraphQL-over-HTTP specification names them; their types are not validated yet. */
export type GraphQLParams = Readonly<Record<string, unknown>>;

/** What the transport hands over with a request. */
export interface GraphQLRequest {
  readonly method: string;
  /** Read from the body or the query string already. */
  readonly params: GraphQLParams;
  /** At least as many characters as the variables have as JSON. */
  readonly characters: number;
  readonly type: ResponseType;
  readonly context: GraphQLContext;
}

/**
 * Responds if the request's document is in the cache, or short, valid and sent with an API token, and nothing about the request
 * is unusual. Nothing, if it has to go through the full pipeline; then nothing of it was executed.
 */
export type FastPath = (request: Omit<GraphQLRequest, 'method'>) => Promise<HttpResponse> | undefined;

const parameterNames = new Set(['query', 'variables', 'operationName']);

/**
 * Builds the fast path. It leaves out what the full pipeline does alike for each request with the same document (parsing,
 * validation, requests and responses as objects), and executes with the same executor.
 *
 * @param read reads documents that are not in the cache.
 */
export function createFastPath(executor: OperationExecutor, documents: DocumentCache, read: ReadDocument): FastPath {
  /** A document that is not in the cache; nothing if it is long, not valid, or not one query or mutation. */
  function examine(text: string): KnownOperation | undefined {
    const document = read(text);
    const operation = document && getOperationAST(document);
    if (!operation || operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
    return executor.examine(document, operation);
  }

  return ({ params, characters, type, context }) => {
    const { query } = params;
    if (typeof query !== 'string') return undefined;
    const cached = documents.get(query);
    if (!isPlain(params)) return undefined;
    // For callers without an API token only what is cached: an invalid document is validated once more by the full pipeline.
    const known = cached ?? (context.caller.apiToken ? examine(query) : undefined);
    if (!known || (params.operationName != null && params.operationName !== known.operation.name?.value)) return undefined;
    const { variables } = params;
    return executor.run(known, { variables, characters, context }).then((result) => {
      if (!cached && result.data !== undefined) documents.add(query, known);
      return renderResult(result, type, context);
    });
  };
}

/** Parameters of the types that they should have. */
interface PlainParams {
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

/** Whether the parameters are of the types that they should have; if not, the full pipeline says what is wrong. */
function isPlain(params: GraphQLParams): params is PlainParams & GraphQLParams {
  for (const name in params) if (!parameterNames.has(name)) return false;
  const { variables, operationName } = params;
  return isObjectOrNothing(variables) && (operationName == null || typeof operationName === 'string');
}

const isObjectOrNothing = (value: unknown): boolean => value == null || (typeof value === 'object' && !Array.isArray(value));
