import { type DocumentNode, GraphQLError, parse } from 'graphql';
import { graphqlLimits } from '../schema/limits.ts';
import { assertDocumentLimits } from './document-limits.ts';
import { isNestedDeeperThan } from './nesting.ts';

const { maxDocumentCharacters, maxDocumentLines, maxNesting, maxTokens } = graphqlLimits;

/**
 * Parses a document within the limits, which are checked before the work that they bound.
 *
 * @throws GraphQLError when the syntax is wrong, or with `QUERY_TOO_COSTLY` when the document exceeds a limit.
 */
export function parseDocument(source: string): DocumentNode {
  assertText(source);
  const document = parseWithin(source);
  assertDocumentLimits(document);
  return document;
}

function parseWithin(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError) || !error.message.includes(`${maxTokens} tokens`)) throw error;
    throw tooCostly(`The document exceeds the limit of ${maxTokens} tokens. Request fewer fields.`);
  }
}

/** Checks the text of a document before it is parsed. @throws GraphQLError when it is too long, or nested too deep. */
function assertText(source: string): void {
  if (source.length > maxDocumentCharacters) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentCharacters} characters. Send long values as variables.`);
  }
  if (countLines(source) > maxDocumentLines) {
    throw tooCostly(`The document exceeds the limit of ${maxDocumentLines} lines.`);
  }
  if (isNestedDeeperThan(source, maxNesting)) {
    throw tooCostly(`The document exceeds the limit of ${maxNesting} levels of nesting.`);
  }
}

const tooCostly = (message: string): GraphQLError => new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COSTLY' } });

function countLines(text: string): number {
  let lines = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) lines += 1;
  }
  return lines;
}
