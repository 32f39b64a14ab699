import { closeFrame, closeObject, recoverFromMismatch } from './brackets.ts';
import { createRemoval, type Frame, maxDepth, openFrame, type ParserState, type Scanner, startMember } from './parser-state.ts';
import {
  closeArrayBeforeKey,
  endBeforeSibling,
  openObjectBeforeKey,
  reportExtraQuote,
  reportKeyWithoutValue,
  reportMissingComma,
  reportValueWithoutKey,
  skipExtraComma,
  skipPunctuation,
  skipStrayQuote,
  skipStrayWord,
  skipText,
  splitUnclosedKey,
  takeComma,
} from './recovery.ts';
import { bareKeyFollows, keyFollows, peekToken, scanUnclearText, skipUnclearMark } from './scan-mark.ts';
import { opensString, scanString } from './scan-string.ts';
import { scanBareKey, scanWord } from './scan-word.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  endsInQuote,
  onSameLine,
  openBrace,
  openBracket,
  quoteText,
  valueCanEnd,
} from './source-text.ts';
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

/** Notes a doubt about a string like `": "` and `", "`, which there are where a quote before them is missing or one too many. */
function doubtEnd(scanner: Scanner, value: string): void {
  if (/[,:[{]\s{0,20}$/.test(value.slice(-21))) scanner.doubt(scanner.lastEnd);
}

/** Takes the next token in an object. */
export function stepInObject(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
  if (frame.state === 'after') expectCommaOrEnd(parser, frame, node, code);
  else if (frame.state === 'colon') expectColon(parser, frame, code);
  else if (frame.state === 'value') expectValue(parser, frame, node, code);
  else expectKey(parser, frame, node, code);
}

/** Expects a key, or the end of the object. */
function expectKey(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = parser;
  const start = scanner.at;
  if (opensString(code)) {
    const key = scanString(scanner);
    if (splitUnclosedKey(scanner, frame, node, key, start)) return;
    doubtEnd(scanner, key);
    startMember(frame, node, key, start, scanner.at);
  } else if (code === closeBrace || code === closeBracket) closeAfterComma(parser, frame, code);
  else if (code === comma) skipExtraComma(scanner);
  else if (code === openBrace && frame.state === 'next' && parser.frames.at(-2)?.node.kind === 'array')
    endBeforeSibling(parser, node);
  else if (code === openBrace || code === openBracket || code === colon) reportValueWithoutKey(parser, frame, node, code);
  else if (bareKeyFollows(scanner)) startMember(frame, node, scanBareKey(scanner), start, scanner.at);
  else skipStrayWord(parser, frame, node);
}

/** Expects the colon after a key. */
function expectColon(parser: ParserState, frame: Frame, code: number): void {
  const { scanner } = parser;
  const { text } = scanner;
  if (code === colon) {
    scanner.at++;
    frame.state = 'value';
  } else if (code === 0x22 && scanner.at === scanner.lastEnd && /^"\s{0,20}:/.test(text.slice(scanner.at, scanner.at + 22))) {
    reportExtraQuote(scanner);
  } else if (code === 0x3d || code === 0xff1a) {
    const range = { start: scanner.at, end: scanner.at + (text[scanner.at + 1] === '>' ? 2 : 1) };
    scanner.at = range.end;
    frame.state = 'value';
    const fix = { range, newText: ':' };
    scanner.report({
      range,
      message: `A colon is expected between a key and its value, not ${quoteText(text, range)}.`,
      suggestion: 'Write a colon.',
      fix,
    });
  } else if (code === comma || code === closeBrace || code === closeBracket || !onSameLine(text, scanner.lastEnd, scanner.at)) {
    reportKeyWithoutValue(scanner, frame);
  } else {
    frame.state = 'value';
    const range = peekToken(scanner);
    // It is a value for certain only if the value can end behind it; what touches the quote before it, only if it begins with
    // such a quote.
    const touchesString = scanner.at === scanner.lastEnd && endsInQuote(text, scanner.at);
    const canEnd = code === openBrace || code === openBracket || valueCanEnd(text, range.end);
    const unclear = !canEnd || (touchesString && code !== 0x22);
    scanner.report({
      range,
      message: `A colon is missing before ${quoteText(text, range)}.`,
      suggestion: 'Put a colon after the key.',
      ...(unclear ? { unclear } : { fix: { range: { start: scanner.lastEnd, end: scanner.lastEnd }, newText: ':' } }),
    });
  }
}

/** Expects the value after a colon. */
function expectValue(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
  if (code === comma || code === closeBrace || code === closeBracket) reportKeyWithoutValue(parser.scanner, frame);
  else if (code === colon) skipPunctuation(parser, node);
  else if (!skipUnclearMark(parser.scanner, true)) {
    frame.state = 'after';
    parseValue(parser);
  }
}

/** Expects a comma or the end of the object, after a value. */
function expectCommaOrEnd(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = parser;
  if (code === comma || code === 0x3b || code === 0xff0c) takeComma(scanner, frame, code);
  else if (code === closeBrace) closeObject(parser);
  else if (code === closeBracket) recoverFromMismatch(parser, code);
  else if (code === colon) openObjectBeforeKey(parser) || skipPunctuation(parser, node);
  else if (code === openBrace && parser.frames.at(-2)?.node.kind === 'array') endBeforeSibling(parser, node);
  else if (opensString(code) && skipStrayQuote(parser)) return;
  else if (opensString(code) && parser.frames.at(-2)?.node.kind === 'array' && !keyFollows(scanner))
    endBeforeSibling(parser, node);
  else if (opensString(code) || code === openBrace || code === openBracket || bareKeyFollows(scanner))
    reportMissingComma(scanner, frame);
  else skipText(parser, node);
}

/** Takes the next token in an array. */
export function stepInArray(parser: ParserState, frame: Frame, node: ArrayNode, code: number): void {
  const { scanner } = parser;
  const after = frame.state === 'after';
  if (code === closeBracket || code === closeBrace) {
    if (after) code === closeBracket ? closeFrame(parser) : recoverFromMismatch(parser, code);
    else closeAfterComma(parser, frame, code);
  } else if (code === comma || code === 0x3b || code === 0xff0c)
    after ? takeComma(scanner, frame, code) : skipExtraComma(scanner);
  else if (code === colon) after && closeArrayBeforeKey(parser, node) ? undefined : skipPunctuation(parser, node);
  else if (!after) {
    if (skipUnclearMark(scanner, false)) return;
    frame.state = 'after';
    parseValue(parser);
  } else if (opensString(code) && skipStrayQuote(parser)) return;
  else if (opensString(code) && parser.frames.at(-2)?.node.kind === 'object' && keyFollows(scanner)) frame.state = 'next';
  else if (opensString(code) || code === openBrace || code === openBracket) reportMissingComma(scanner, frame);
  else skipText(parser, node);
}

function closeAfterComma(parser: ParserState, frame: Frame, code: number): void {
  const trailing = frame.state === 'next' && frame.comma >= 0;
  if ((code === closeBrace) !== (frame.node.kind === 'object')) recoverFromMismatch(parser, code);
  else if (code === closeBrace) closeObject(parser);
  else closeFrame(parser);
  // A bracket that was skipped closes nothing, and the comma before it may be needed.
  if (!trailing || parser.frames.includes(frame)) return;
  const bracket = String.fromCharCode(code);
  parser.scanner.report(
    createRemoval(
      { start: frame.comma, end: frame.comma + 1 },
      `There is a trailing comma before the closing ${bracket}.`,
      'Remove this comma.',
    ),
  );
}
