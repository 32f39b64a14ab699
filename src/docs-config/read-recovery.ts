import { colon, comma } from './json-marks.ts';
import type { ArrayNode, Member, ObjectNode, TextRange } from './json-tree.ts';
import type { Frame } from './read-brackets.ts';
import type { Reading } from './read-json.ts';
import { opensString } from './scan-string.ts';
import { endOfWord } from './scan-word.ts';
import { endOfLine, quoteText, removal, type Scanner } from './scanner.ts';

/** A key was read; its colon and value follow. */
export function startMember(frame: Frame, node: ObjectNode, key: string, keyStart: number, keyEnd: number): void {
  const member: Member = { key, keyStart, keyEnd, value: { kind: 'unread', start: keyStart, end: keyEnd } };
  node.members.push(member);
  frame.member = member;
  frame.state = 'colon';
}

/** A key is followed by no value. */
export function keyWithoutValue(scanner: Scanner, frame: Frame): void {
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

/** A comma, or a semicolon in its place, behind a value. */
export function takeComma(scanner: Scanner, frame: Frame, code: number): void {
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

/** A comma with nothing before it. */
export function extraComma(scanner: Scanner): void {
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.at++;
  scanner.report(removal(range, 'There is nothing before this comma.', 'Remove this comma.'));
}

/** A value follows a value. */
export function missingComma(scanner: Scanner, frame: Frame): void {
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
export function endBeforeSibling(reading: Reading, node: ObjectNode): void {
  const { scanner, frames } = reading;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({ range, message: 'The object before this one is not closed.', suggestion: 'Put } before the comma.' });
  node.damaged = true;
  node.end = scanner.lastEnd;
  frames.pop();
  const parent = frames.at(-1);
  if (parent) parent.state = 'next';
}

/** A value, or its colon, where a key belongs: it is read, and belongs nowhere. */
export function valueWithoutKey(reading: Reading, frame: Frame, node: ObjectNode, code: number): void {
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
export function keyInsteadOfItem(reading: Reading, node: ArrayNode): boolean {
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

/** A mark that fits nowhere. */
export function skipMark(reading: Reading, node: ObjectNode | ArrayNode): void {
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
export function skipText(reading: Reading, node: ObjectNode | ArrayNode): void {
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

/** The range of what follows, for a message. */
export function tokenAt(scanner: Scanner): TextRange {
  const { text } = scanner;
  const start = scanner.at;
  const code = text.charCodeAt(start);
  if (!opensString(code)) return { start, end: Math.max(start + 1, endOfWord(text, start)) };
  const line = text.slice(start, endOfLine(text, start, Math.min(text.length, start + 200)));
  const close = line.indexOf(line[0] as string, 1);
  return { start, end: close === -1 ? start + line.trimEnd().length : start + close + 1 };
}

/** Whether what follows is an unquoted key with its colon. */
export function bareKeyFollows({ text, at }: Scanner): boolean {
  const end = endOfWord(text, at);
  return end > at && /^\s{0,20}:/.test(text.slice(end, end + 21));
}

/** Whether there is no line break between two offsets. */
export function onSameLine(text: string, from: number, to: number): boolean {
  return endOfLine(text, from, to) === to;
}
