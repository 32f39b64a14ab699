import type { DocumentNode } from 'graphql';

/** The most documents that are remembered, and the most characters of them together; parsed, one takes some 200 bytes. */
const maxDocuments = 500;
const maxCharacters = 200_000;

/** A document longer than this is not remembered: parsing it again is little beside executing it. */
const maxDocumentCharacters = 10_000;

/** Documents that passed every check of the GraphQL server, by their text. Bounded, whatever is sent. */
export interface AdmittedDocuments {
  get(source: string): DocumentNode | undefined;
  /** Remembers a document; forgets those that were not used for longest when there are too many. */
  add(source: string, document: DocumentNode): void;
}

/** Begins to remember. */
export function rememberAdmitted(): AdmittedDocuments {
  // A Map keeps the order of insertion, so that its first entry is the one that was not used for longest.
  const documents = new Map<string, DocumentNode>();
  let characters = 0;
  return {
    get(source) {
      const document = documents.get(source);
      // What is used must move to the end only where something may be forgotten soon.
      if (document && (documents.size > maxDocuments / 2 || characters > maxCharacters / 2)) {
        documents.delete(source);
        documents.set(source, document);
      }
      return document;
    },
    add(source, document) {
      if (source.length > maxDocumentCharacters || documents.has(source)) return;
      documents.set(source, document);
      characters += source.length;
      for (const [oldest] of documents) {
        if (documents.size <= maxDocuments && characters <= maxCharacters) return;
        documents.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}
