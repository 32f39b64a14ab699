import { type DocumentNode, Lexer, parse, Source, TokenKind } from 'graphql';
import { graphqlLimits } from '../schema/limits.ts';
import { assertDocumentLimits, tooCostly } from './document-limits.ts';

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
