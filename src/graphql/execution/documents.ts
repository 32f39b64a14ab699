import { type DocumentNode, Lexer, parse, Source, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';
import { metrics } from '../../metrics/metrics.ts';
import { graphqlLimits } from '../limits.ts';
import { assertDocumentLimits, tooCostly } from './document-limits.ts';
import type { KnownOperation } from './execute.ts';

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

const { maxDocumentCharacters, maxDocumentLines, maxNesting, maxTokens } = graphqlLimits;

/**
 * Parses a document within the limits, which are checked before the work that they bound.
 *
 * @throws GraphQLError when the syntax is wrong, or with `QUERY_TOO_COSTLY` when the document exceeds a limit.
 */
export function parseDocument(text: string): DocumentNode {
  if (text.length > maxDocumentCharacters) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentCharacters} characters. Send long values as variables.`);
  }
  if (countLines(text) > maxDocumentLines) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentLines} lines.`);
  }
  const source = new Source(text);
  assertTokens(source);
  const document = parse(source);
  assertDocumentLimits(document);
  return document;
}

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R]);

/** Checks the number of tokens, and how deep their brackets are nested: the parser would overflow the stack. */
function assertTokens(source: Source): void {
  const lexer = new Lexer(source);
  let depth = 0;
  for (let count = 1; lexer.advance().kind !== TokenKind.EOF; count += 1) {
    const { kind } = lexer.token;
    if (count > maxTokens) throw tooCostly(`The document exceeds the limit of ${maxTokens} tokens. Request fewer fields.`);
    if (opening.has(kind)) depth += 1;
    else if (closing.has(kind)) depth -= 1;
    if (depth > maxNesting) throw tooCostly(`The document exceeds the limit of ${maxNesting} levels of nesting.`);
  }
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) lines += 1;
  }
  return lines;
}
