import { closeAtEnd, closeFrame, closeObject, recoverFromMismatch } from './brackets.ts';
import { reportEmpty, reportTextAfter, skipTextBefore } from './document-edges.ts';
import { createDoubts, doubtEnd } from './doubts.ts';
import { parseValue } from './parse-value.ts';
import {
  createRemoval,
  createScanner,
  type Frame,
  maxDepth,
  omitFix,
  type ParserState,
  type Scanner,
  type SyntaxProblem,
  startMember,
} from './parser-state.ts';
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
import { bareKeyFollows, keyFollows, peekToken, skipUnclearMark } from './scan-mark.ts';
import { opensString, scanString } from './scan-string.ts';
import { skipTrivia } from './scan-trivia.ts';
import { scanBareKey } from './scan-word.ts';
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
import type { ArrayNode, JsonNode, ObjectNode } from './syntax-tree.ts';

/** The result of parsing a text. */
export interface JsonDocument {
  /** The outermost value; undefined when the text has none. */
  readonly root: JsonNode | undefined;
  /** The offset of the first value nested deeper than {@link maxDepth}, which was skipped; undefined when there is none. */
  readonly tooDeep: number | undefined;
}

/** A text has more values and marks than the caller wants to have parsed. */
export class TooManyStepsError extends Error {}

/**
 * Parses a JSON text in one pass, without recursion and in linear time for any input. Whatever is not strict JSON is reported,
 * and parsing continues with what was most likely meant.
 *
 * @param maxSteps the most values and marks, such as brackets and commas, that the text may have.
 * @throws TooManyStepsError when it has more.
 */
export function parseJson(
  text: string,
  report: (problem: SyntaxProblem) => void,
  maxSteps = Number.POSITIVE_INFINITY,
): JsonDocument {
  const doubts = createDoubts(text);
  const document = parse(text, doubts.addProblem, maxSteps, doubts.add);
  if (doubts.hasProblems()) parse(text, (problem) => report(doubts.isCertain(problem) ? problem : omitFix(problem)), maxSteps);
  return document;
}

/** Parses it once, and reports each problem with the fix that seems right where it is. */
function parse(text: string, report: Scanner['report'], maxSteps: number, doubt: Scanner['doubt'] = () => {}): JsonDocument {
  const scanner = createScanner(text, report, doubt);
  const parser: ParserState = { scanner, frames: [], root: undefined, tooDeep: undefined, bracketBalance: undefined };
  skipTrivia(scanner, 'nothing');
  skipTextBefore(scanner);
  if (scanner.at >= text.length) {
    if (scanner.lastEnd === 0) reportEmpty(scanner);
    return parser;
  }
  parseValue(parser);
  for (let steps = 1; ; steps++) {
    if (steps > maxSteps) throw new TooManyStepsError();
    const frame = parser.frames.at(-1);
    skipTrivia(scanner, expectedIn(frame));
    if (!frame) break;
    if (scanner.at >= text.length) {
      closeAtEnd(parser);
      return parser;
    }
    if (frame.node.kind === 'object') stepInObject(parser, frame, frame.node, text.charCodeAt(scanner.at));
    else stepInArray(parser, frame, frame.node, text.charCodeAt(scanner.at));
  }
  reportTextAfter(parser);
  return parser;
}

function expectedIn(frame: Frame | undefined): 'nothing' | 'value' | 'other' {
  if (!frame) return 'nothing';
  const isValue = frame.node.kind === 'array' ? frame.state !== 'after' : frame.state === 'value';
  return isValue ? 'value' : 'other';
}

function stepInObject(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
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

function stepInArray(parser: ParserState, frame: Frame, node: ArrayNode, code: number): void {
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
