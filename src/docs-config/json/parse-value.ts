import { doubtEnd } from './doubts.ts';
import { maxDepth, openFrame, type ParserState } from './parser-state.ts';
import { scanUnclearText } from './scan-mark.ts';
import { opensString, scanString } from './scan-string.ts';
import { scanWord } from './scan-word.ts';
import { closeBrace, closeBracket, openBrace, openBracket } from './source-text.ts';
import { type ArrayNode, createObjectNode, type JsonNode, type ObjectNode } from './syntax-tree.ts';

/** Parses a string or word, or opens an object or array, and adds it to the innermost open frame or to the document. */
export function parseValue(parser: ParserState): void {
  const { scanner, frames } = parser;
  const start = scanner.at;
  const code = scanner.text.charCodeAt(start);
  if (opensString(code)) {
    const value = scanString(scanner);
    doubtEnd(scanner, value);
    attach(parser, { kind: 'string', value, start, end: scanner.at });
  } else if (code !== openBrace && code !== openBracket) {
    const isMember = frames.at(-1)?.node.kind === 'object';
    attach(parser, scanUnclearText(scanner, isMember) ?? scanWord(scanner));
  } else if (frames.length >= maxDepth) attach(parser, skipDeep(parser));
  else {
    const node: ObjectNode | ArrayNode =
      code === openBrace ? createObjectNode(start) : { kind: 'array', items: [], start, end: start + 1, damaged: false };
    attach(parser, node);
    frames.push(openFrame(node));
    scanner.at = scanner.lastEnd = start + 1;
  }
}

function attach(parser: ParserState, node: JsonNode): void {
  const frame = parser.frames.at(-1);
  if (!frame) parser.root = node;
  else if (frame.node.kind === 'array') {
    frame.node.items.push(node);
    if (node.kind === 'object') frame.holdsObject = true;
  } else if (frame.member) frame.member.value = node;
}

/** Skips a value that is nested too deep, by counting brackets. */
function skipDeep(parser: ParserState): JsonNode {
  const { scanner } = parser;
  const { text } = scanner;
  const start = scanner.at;
  parser.tooDeep ??= start;
  let depth = 0;
  for (; scanner.at < text.length; scanner.at++) {
    const code = text.charCodeAt(scanner.at);
    if (code === 0x22) {
      while (++scanner.at < text.length && text.charCodeAt(scanner.at) !== 0x22)
        if (text.charCodeAt(scanner.at) === 0x5c) scanner.at++;
    } else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) break;
  }
  scanner.at = scanner.lastEnd = Math.min(text.length, scanner.at + 1);
  return { kind: 'error', start, end: scanner.at };
}
