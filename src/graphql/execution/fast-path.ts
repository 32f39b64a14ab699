import { getOperationAST, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { HttpResponse } from '../../http/types.ts';
import { metrics } from '../../metrics/metrics.ts';
import type { GraphQLContext } from '../context.ts';
import type { KnownOperation, OperationExecutor } from './execute.ts';
import { type ResponseType, renderResult } from './response.ts';
import type { ReadDocument } from './validation.ts';

/**
 * The most documents that are kept, and the most characters of them together; parsed, one takes some 200 bytes. A document longer
 * than the last figure is not kept: parsing it again costs little compared to executing it.
 */
export const documentBounds = { max: 500, maxSize: 200_000, maxEntrySize: 10_000 } as const;

/** Documents with a single operation that are valid and were executed, by their text. Bounded, whatever is sent. */
export interface DocumentCache {
  get(source: string): KnownOperation | undefined;
  /** Keeps a document, which is not empty, once it is added a second time; drops the least recently used of too many. */
  add(source: string, operation: KnownOperation): void;
}

/** Creates an empty cache, whose size and look-ups the metrics have. */
export function createDocumentCache(): DocumentCache {
  const sizeCalculation = (_: unknown, source: string): number => source.length;
  const documents = new LRUCache<string, KnownOperation>({ ...documentBounds, sizeCalculation });
  // Only their texts: to keep what is parsed of documents that are never sent again takes the garbage collector as long as
  // parsing and executing them.
  const addedOnce = new LRUCache<string, true>({ ...documentBounds, sizeCalculation });
  return {
    get(source) {
      const known = documents.get(source);
      metrics.documentLookups.inc({ result: known ? 'hit' : 'miss' });
      return known;
    },
    add(source, operation) {
      if (!addedOnce.has(source)) addedOnce.set(source, true);
      else if (!documents.has(source)) {
        documents.set(source, operation);
        metrics.cachedDocuments.set(documents.size);
      }
    },
  };
}

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
