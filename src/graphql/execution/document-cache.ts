import type { KnownOperation } from './execute.ts';

/** The most documents that are kept, and the most characters of them together; parsed, one takes some 200 bytes. */
const maxDocuments = 500;
const maxCharacters = 200_000;

/** A document longer than this is not kept: parsing it again costs little beside executing it. */
const maxDocumentCharacters = 10_000;

/** Documents with a single operation that passed every check of the full pipeline, by their text. Bounded, whatever is sent. */
export interface DocumentCache {
  get(source: string): KnownOperation | undefined;
  /** Keeps a document; drops the least recently used when there are too many. */
  add(source: string, operation: KnownOperation): void;
}

/** Creates an empty cache. */
export function createDocumentCache(): DocumentCache {
  // A Map keeps the order of insertion, so its first entry is the least recently used.
  const documents = new Map<string, KnownOperation>();
  let characters = 0;
  return {
    get(source) {
      const operation = documents.get(source);
      // What is used must move to the end only where something may be dropped soon.
      if (operation && (documents.size > maxDocuments / 2 || characters > maxCharacters / 2)) {
        documents.delete(source);
        documents.set(source, operation);
      }
      return operation;
    },
    add(source, operation) {
      if (source.length > maxDocumentCharacters || documents.has(source)) return;
      documents.set(source, operation);
      characters += source.length;
      for (const [oldest] of documents) {
        if (documents.size <= maxDocuments && characters <= maxCharacters) return;
        documents.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}
