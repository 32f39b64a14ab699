import type { ArrayNode, JsonNode, Member, ObjectNode } from './json-tree.ts';
import { closeFrame, closeUnended, type Frame, mismatch } from './read-brackets.ts';
import { opensString, readString } from './scan-string.ts';
import { skipTrivia } from './scan-trivia.ts';
import { endOfWord, readBareKey, readWord } from './scan-word.ts';
import { endOfLine, quoteText, removal, type Scanner, type SyntaxProblem, scan } from './scanner.ts';

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
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Reads a JSON text in one pass without recursion, in linear time, whatever it holds. What is not strict JSON is reported, and
 * the reading goes on with what was most likely meant.
 */
export function readJson(text: string, report: (problem: SyntaxProblem) => void): JsonDocument {
  const scanner = scan(text, report);
  const reading: Reading = { scanner, frames: [], root: undefined, tooDeep: undefined };
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
  if (opensString(code)) startMember(frame, node, readString(scanner), start, scanner.at);
  else if (code === closeBrace || code === closeBracket) closeAfterComma(reading, frame, code);
  else if (code === comma) extraComma(scanner);
  else if (code === openBrace && frame.state === 'next' && reading.frames.at(-2)?.node.kind === 'array')
    endBeforeSibling(reading, node);
  else if (code === openBrace || code === openBracket || code === colon) valueWithoutKey(reading, frame, node, code);
  else startMember(frame, node, readBareKey(scanner), start, scanner.at);
}

function startMember(frame: Frame, node: ObjectNode, key: string, keyStart: number, keyEnd: number): void {
  const member: Member = { key, keyStart, keyEnd, value: { kind: 'unread', start: keyStart, end: keyEnd } };
  node.members.push(member);
  frame.member = member;
  frame.state = 'colon';
}

/** Behind a key. */
function objectColon(reading: Reading, frame: Frame, code: number): void {
  const { scanner } = reading;
  const { text } = scanner;
  if (code === colon) {
    scanner.at++;
    frame.state = 'value';
  } else if (code === 0x3d) {
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

function keyWithoutValue(scanner: Scanner, frame: Frame): void {
  frame.state = 'after';
  if (!frame.member) return; // the key is what was missing
  const { keyStart, keyEnd } = frame.member;
  const range = { start: keyStart, end: keyEnd };
  scanner.report({
    range,
    message: `The key ${quoteText(scanner.text, range)} has no value.`,
    suggestion: 'Put a colon and a value after it, or remove it.',
  });
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
  if (code === comma || code === 0x3b) takeComma(scanner, frame, code);
  else if (code === closeBrace) closeFrame(reading);
  else if (code === closeBracket) mismatch(reading, code);
  else if (code === colon) skipMark(reading, node);
  else if (code === openBrace && reading.frames.at(-2)?.node.kind === 'array') endBeforeSibling(reading, node);
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
  } else if (code === comma || code === 0x3b) after ? takeComma(scanner, frame, code) : extraComma(scanner);
  else if (code === colon) after && keyInsteadOfItem(reading, node) ? undefined : skipMark(reading, node);
  else if (!after) {
    frame.state = 'after';
    readValue(reading);
  } else if (opensString(code) || code === openBrace || code === openBracket) missingComma(scanner, frame);
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
    frames.push({ node, state: 'first', member: undefined, comma: 0 });
    scanner.at = scanner.lastEnd = start + 1;
  }
}

function attach(reading: Reading, node: JsonNode): void {
  const frame = reading.frames.at(-1);
  if (!frame) reading.root = node;
  else if (frame.node.kind === 'array') frame.node.items.push(node);
  else if (frame.member) frame.member.value = node;
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

function takeComma(scanner: Scanner, frame: Frame, code: number): void {
  frame.comma = scanner.at;
  frame.state = 'next';
  scanner.at++;
  if (code === comma) return;
  const range = { start: frame.comma, end: scanner.at };
  scanner.report({
    range,
    message: 'A semicolon stands where a comma belongs.',
    suggestion: 'Write a comma.',
    fix: { range, newText: ',' },
  });
}

function extraComma(scanner: Scanner): void {
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.at++;
  scanner.report(removal(range, 'There is nothing before this comma.', 'Remove this comma.'));
}

function closeAfterComma(reading: Reading, frame: Frame, code: number): void {
  if (frame.state === 'next') {
    const range = { start: frame.comma, end: frame.comma + 1 };
    const bracket = String.fromCharCode(code);
    reading.scanner.report(
      removal(range, `A comma stands before the closing ${bracket}, with nothing after it.`, 'Remove this comma.'),
    );
    frame.state = 'after';
  }
  if ((code === closeBrace) === (frame.node.kind === 'object')) closeFrame(reading);
  else mismatch(reading, code);
}

function missingComma(scanner: Scanner, frame: Frame): void {
  frame.state = 'next';
  const range = tokenAt(scanner);
  const at = scanner.lastEnd;
  scanner.report({
    range,
    message: `A comma is missing before ${quoteText(scanner.text, range)}.`,
    suggestion: 'Put a comma after the value before it.',
    fix: { range: { start: at, end: at }, newText: ',' },
  });
}

/** In an array of objects, `{` where a key belongs begins the next one: the one before was not closed. */
function endBeforeSibling(reading: Reading, node: ObjectNode): void {
  const { scanner, frames } = reading;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({ range, message: 'The object before this one is not closed.', suggestion: 'Put } before the comma.' });
  node.damaged = true;
  node.end = scanner.lastEnd;
  frames.pop();
  const parent = frames.at(-1);
  if (parent) parent.state = 'next';
}

function valueWithoutKey(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = reading;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({
    range,
    message: `A key in double quotes belongs here, not ${quoteText(scanner.text, range)}.`,
    suggestion: 'Write the key.',
  });
  node.damaged = true;
  frame.member = undefined; // what follows is read, and belongs nowhere
  if (code === colon) scanner.at++;
  frame.state = 'value';
}

/** `["a", "group": …`: the array was to end before its last string, which is a key. */
function keyInsteadOfItem(reading: Reading, node: ArrayNode): boolean {
  const { scanner, frames } = reading;
  const key = node.items.at(-1);
  const parent = frames.at(-2);
  if (key?.kind !== 'string' || parent?.node.kind !== 'object') return false;
  const range = { start: key.start, end: key.end };
  const message = `The list before the key ${quoteText(scanner.text, range)} is not closed.`;
  scanner.report({ range, message, suggestion: 'Put ] before the comma.' });
  node.items.pop();
  node.damaged = true;
  node.end = key.start;
  frames.pop();
  startMember(parent, parent.node, key.value, key.start, key.end);
  return true;
}

function skipMark(reading: Reading, node: ObjectNode | ArrayNode): void {
  const { scanner } = reading;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.at++;
  node.damaged = true;
  scanner.report({
    range,
    message: `${quoteText(scanner.text, range)} does not belong here.`,
    suggestion: 'Remove it, or write what is missing before it.',
  });
}

/** Skips text behind a value, up to the next JSON mark. */
function skipText(reading: Reading, node: ObjectNode | ArrayNode): void {
  const { scanner } = reading;
  const range = tokenAt(scanner);
  scanner.at = range.end;
  node.damaged = true;
  scanner.report({
    range,
    message: `The text ${quoteText(scanner.text, range)} does not belong after a value.`,
    suggestion: 'Remove it; a double quote inside a string is written \\".',
  });
}

/** The text before the document, such as `module.exports =` or a Markdown fence. */
function skipTextBefore(scanner: Scanner): void {
  const { text } = scanner;
  const start = scanner.at;
  if (start >= text.length) return;
  const code = text.charCodeAt(start);
  if (code === openBrace || code === openBracket || (opensString(code) && !text.startsWith('```', start))) return;
  const word = text.slice(start, endOfWord(text, start));
  const rest = text.slice(endOfWord(text, start)).trim();
  if (rest === '' && /^(?:true|false|null|-?\d[\d.eE+-]*)$/.test(word)) return;
  const brace = text.indexOf('{', start);
  const end = brace === -1 ? text.length : brace;
  scanner.at = end;
  scanner.lastEnd = end;
  const range = { start, end: start + text.slice(start, end).trimEnd().length };
  scanner.report({
    range,
    message:
      brace === -1
        ? `There is no JSON here, only ${quoteText(text, range)}.`
        : `The text ${quoteText(text, range)} stands before the document.`,
    suggestion: 'The file holds one JSON object and nothing else: remove this.',
  });
}

function reportTextAfter(reading: Reading): void {
  const { scanner, root } = reading;
  const { text } = scanner;
  while (scanner.at < text.length) {
    const start = scanner.at;
    const mark = text[start];
    if (mark === ',' || mark === ';') {
      scanner.at++;
      scanner.report(
        removal({ start, end: start + 1 }, `${mark === ',' ? 'A comma' : 'A semicolon'} follows the document.`, 'Remove it.'),
      );
      skipTrivia(scanner, false);
      continue;
    }
    const range = { start, end: start + text.slice(start).trimEnd().length };
    if (root?.kind === 'object' || root?.kind === 'array') root.damaged = true;
    scanner.report({
      range,
      message: `The document ends before ${quoteText(text, range)}.`,
      suggestion: 'Remove what follows, or the closing bracket too many before it.',
    });
    return;
  }
}

function reportEmpty(scanner: Scanner): void {
  const range = { start: 0, end: scanner.text.length };
  scanner.report({ range, message: 'The file is empty.', suggestion: 'Write an object with at least "name" and "navigation".' });
}

function tokenAt(scanner: Scanner) {
  const { text } = scanner;
  const start = scanner.at;
  const code = text.charCodeAt(start);
  if (!opensString(code)) return { start, end: Math.max(start + 1, endOfWord(text, start)) };
  const line = text.slice(start, endOfLine(text, start, Math.min(text.length, start + 200)));
  const close = line.indexOf(line[0] as string, 1);
  return { start, end: close === -1 ? start + line.trimEnd().length : start + close + 1 };
}

function bareKeyFollows({ text, at }: Scanner): boolean {
  const end = endOfWord(text, at);
  return end > at && /^\s{0,20}:/.test(text.slice(end, end + 21));
}

function onSameLine(text: string, from: number, to: number): boolean {
  return endOfLine(text, from, to) === to;
}
