import { closeFrame, closeUnended, type Frame, mismatch, openFrame } from './brackets.ts';
import { closeBrace, closeBracket, colon, comma, openBrace, openBracket } from './characters.ts';
import { reportEmpty, reportTextAfter, skipTextBefore } from './document-edges.ts';
import { quoteText, removal, type Scanner, type SyntaxProblem, scan } from './parser-state.ts';
import {
  bareKeyFollows,
  endBeforeSibling,
  extraComma,
  keyFollows,
  keyInsteadOfItem,
  keyUnclosed,
  keyWithoutValue,
  missingComma,
  onSameLine,
  skipMark,
  skipStray,
  skipText,
  startMember,
  strayWord,
  takeComma,
  tokenAt,
  valueWithoutKey,
} from './recovery.ts';
import { opensString, readString } from './scan-string.ts';
import { skipTrivia } from './scan-trivia.ts';
import { readBareKey, readWord } from './scan-word.ts';
import type { ArrayNode, JsonNode, ObjectNode } from './syntax-tree.ts';

/** The deepest nesting that is read. Real files have about ten levels. */
export const maxDepth = 200;

/** What a text holds. */
export interface JsonDocument {
  /** The outermost value; undefined when there is none to be found. */
  readonly root: JsonNode | undefined;
  /** The opening bracket of the first value that lies deeper than {@link maxDepth}; it was skipped. */
  readonly tooDeep: number | undefined;
}

/** A reading under way. */
export interface Reading {
  readonly scanner: Scanner;
  readonly frames: Frame[];
  root: JsonNode | undefined;
  tooDeep: number | undefined;
  /** How many brackets more are closed than are open, from here to the end; undefined until one does not match. */
  surplus: number | undefined;
}

/**
 * Reads a JSON text in one pass without recursion, in linear time, whatever it holds. What is not strict JSON is reported, and
 * the reading goes on with what was most likely meant.
 */
export function readJson(text: string, report: (problem: SyntaxProblem) => void): JsonDocument {
  const scanner = scan(text, report);
  const reading: Reading = { scanner, frames: [], root: undefined, tooDeep: undefined, surplus: undefined };
  skipTrivia(scanner, false);
  skipTextBefore(scanner);
  if (scanner.at >= text.length) {
    if (scanner.lastEnd === 0) reportEmpty(scanner);
    return reading;
  }
  readValue(reading);
  for (;;) {
    const frame = reading.frames.at(-1);
    skipTrivia(scanner, frame?.state === 'value');
    if (!frame) break;
    if (scanner.at >= text.length) {
      closeUnended(reading);
      return reading;
    }
    if (frame.node.kind === 'object') objectStep(reading, frame, frame.node, text.charCodeAt(scanner.at));
    else arrayStep(reading, frame, frame.node, text.charCodeAt(scanner.at));
  }
  reportTextAfter(reading);
  return reading;
}

function objectStep(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
  if (frame.state === 'after') objectAfter(reading, frame, node, code);
  else if (frame.state === 'colon') objectColon(reading, frame, code);
  else if (frame.state === 'value') objectValue(reading, frame, node, code);
  else objectKey(reading, frame, node, code);
}

/** Where a key belongs. */
function objectKey(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = reading;
  const start = scanner.at;
  if (opensString(code)) {
    const key = readString(scanner);
    if (!keyUnclosed(scanner, frame, node, key, start)) startMember(frame, node, key, start, scanner.at);
  } else if (code === closeBrace || code === closeBracket) closeAfterComma(reading, frame, code);
  else if (code === comma) extraComma(scanner);
  else if (code === openBrace && frame.state === 'next' && reading.frames.at(-2)?.node.kind === 'array')
    endBeforeSibling(reading, node);
  else if (code === openBrace || code === openBracket || code === colon) valueWithoutKey(reading, frame, node, code);
  else if (bareKeyFollows(scanner)) startMember(frame, node, readBareKey(scanner), start, scanner.at);
  else strayWord(reading, frame, node);
}

/** Behind a key. */
function objectColon(reading: Reading, frame: Frame, code: number): void {
  const { scanner } = reading;
  const { text } = scanner;
  if (code === colon) {
    scanner.at++;
    frame.state = 'value';
  } else if (code === 0x22 && scanner.at === scanner.lastEnd && /^"\s{0,20}:/.test(text.slice(scanner.at, scanner.at + 22))) {
    const range = { start: scanner.at, end: scanner.at + 1 };
    scanner.at = range.end;
    scanner.report(removal(range, 'There is a double quote too many here.', 'Remove it.'));
  } else if (code === 0x3d || code === 0xff1a) {
    const range = { start: scanner.at, end: scanner.at + (text[scanner.at + 1] === '>' ? 2 : 1) };
    scanner.at = range.end;
    frame.state = 'value';
    const fix = { range, newText: ':' };
    scanner.report({
      range,
      message: `A colon belongs between a key and its value, not ${quoteText(text, range)}.`,
      suggestion: 'Write a colon.',
      fix,
    });
  } else if (code === comma || code === closeBrace || code === closeBracket || !onSameLine(text, scanner.lastEnd, scanner.at)) {
    keyWithoutValue(scanner, frame);
  } else {
    frame.state = 'value';
    const range = tokenAt(scanner);
    const fix = { range: { start: scanner.lastEnd, end: scanner.lastEnd }, newText: ':' };
    scanner.report({
      range,
      message: `A colon is missing before ${quoteText(text, range)}.`,
      suggestion: 'Put a colon after the key.',
      fix,
    });
  }
}

/** Behind the colon. */
function objectValue(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
  if (code === comma || code === closeBrace || code === closeBracket) keyWithoutValue(reading.scanner, frame);
  else if (code === colon) skipMark(reading, node);
  else {
    frame.state = 'after';
    readValue(reading);
  }
}

/** Behind a value: a comma or the end. */
function objectAfter(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = reading;
  if (code === comma || code === 0x3b || code === 0xff0c) takeComma(scanner, frame, code);
  else if (code === closeBrace) closeFrame(reading);
  else if (code === closeBracket) mismatch(reading, code);
  else if (code === colon) skipMark(reading, node);
  else if (code === openBrace && reading.frames.at(-2)?.node.kind === 'array') endBeforeSibling(reading, node);
  else if (opensString(code) && skipStray(reading)) return;
  else if (opensString(code) && reading.frames.at(-2)?.node.kind === 'array' && !keyFollows(scanner))
    endBeforeSibling(reading, node);
  else if (opensString(code) || code === openBrace || code === openBracket || bareKeyFollows(scanner))
    missingComma(scanner, frame);
  else skipText(reading, node);
}

function arrayStep(reading: Reading, frame: Frame, node: ArrayNode, code: number): void {
  const { scanner } = reading;
  const after = frame.state === 'after';
  if (code === closeBracket || code === closeBrace) {
    if (after) code === closeBracket ? closeFrame(reading) : mismatch(reading, code);
    else closeAfterComma(reading, frame, code);
  } else if (code === comma || code === 0x3b || code === 0xff0c) after ? takeComma(scanner, frame, code) : extraComma(scanner);
  else if (code === colon) after && keyInsteadOfItem(reading, node) ? undefined : skipMark(reading, node);
  else if (!after) {
    frame.state = 'after';
    readValue(reading);
  } else if (opensString(code) && skipStray(reading)) return;
  else if (opensString(code) && reading.frames.at(-2)?.node.kind === 'object' && keyFollows(scanner)) frame.state = 'next';
  else if (opensString(code) || code === openBrace || code === openBracket) missingComma(scanner, frame);
  else skipText(reading, node);
}

/** An object, array, string or word; the frame on top gets it, or the document when there is none. */
function readValue(reading: Reading): void {
  const { scanner, frames } = reading;
  const start = scanner.at;
  const code = scanner.text.charCodeAt(start);
  if (opensString(code)) attach(reading, { kind: 'string', value: readString(scanner), start, end: scanner.at });
  else if (code !== openBrace && code !== openBracket) attach(reading, readWord(scanner));
  else if (frames.length >= maxDepth) attach(reading, skipDeep(reading));
  else {
    const range = { start, end: start + 1, damaged: false };
    const node: ObjectNode | ArrayNode =
      code === openBrace ? { kind: 'object', members: [], ...range } : { kind: 'array', items: [], ...range };
    attach(reading, node);
    frames.push(openFrame(node));
    scanner.at = scanner.lastEnd = start + 1;
  }
}

function attach(reading: Reading, node: JsonNode): void {
  const frame = reading.frames.at(-1);
  if (!frame) reading.root = node;
  else if (frame.node.kind === 'array') {
    frame.node.items.push(node);
    if (node.kind === 'object') frame.holdsObject = true;
  } else if (frame.member) frame.member.value = node;
}

/** Skips a value that lies too deep, by counting brackets alone. */
function skipDeep(reading: Reading): JsonNode {
  const { scanner } = reading;
  const { text } = scanner;
  const start = scanner.at;
  reading.tooDeep ??= start;
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
  return { kind: 'unread', start, end: scanner.at };
}

function closeAfterComma(reading: Reading, frame: Frame, code: number): void {
  const trailing = frame.state === 'next' && frame.comma >= 0;
  if ((code === closeBrace) === (frame.node.kind === 'object')) closeFrame(reading);
  else mismatch(reading, code);
  // A bracket that was skipped closes nothing, and the comma before it may be needed.
  if (!trailing || reading.frames.includes(frame)) return;
  const bracket = String.fromCharCode(code);
  reading.scanner.report(
    removal(
      { start: frame.comma, end: frame.comma + 1 },
      `A comma stands before the closing ${bracket}, with nothing after it.`,
      'Remove this comma.',
    ),
  );
}
