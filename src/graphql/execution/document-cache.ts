import { LRUCache } from 'lru-cache';
import { GraphQLMetrics } from '../../metrics/graphql-metrics.ts';
import { metrics } from '../../metrics/metrics.ts';
import type { KnownOperation } from './execute.ts';

/** The most documents that are kept, and the most characters of them together; parsed, one takes some 200 bytes. */
const maxDocuments = 500;
const maxCharacters = 200_000;

/** A document longer than this is not kept: parsing it again costs little compared to executing it. */
const maxCachedDocumentCharacters = 10_000;

/** Documents with a single operation that passed every check of the full pipeline, by their text. Bounded, whatever is sent. */
export interface DocumentCache {
  get(source: string): KnownOperation | undefined;
  /** Keeps a document that is not empty; drops the least recently used when there are too many. */
  add(source: string, operation: KnownOperation): void;
}

/** Creates an empty cache, whose look-ups are counted. @param graphqlMetrics gets its size. */
export function createDocumentCache(graphqlMetrics = new GraphQLMetrics()): DocumentCache {
  const documents = new LRUCache<string, KnownOperation>({
    max: maxDocuments,
    maxSize: maxCharacters,
    maxEntrySize: maxCachedDocumentCharacters,
    sizeCalculation: (_, source) => source.length,
  });
  graphqlMetrics.cachedDocuments = () => documents.size;
  return {
    get(source) {
      const known = documents.get(source);
      metrics.documentLookups.inc({ result: known ? 'hit' : 'miss' });
      return known;
    },
    add(source, operation) {
      if (!documents.has(source)) documents.set(source, operation);
    },
  };
}
