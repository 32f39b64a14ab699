import { type Frame, openFrame, surplusOf } from './brackets.ts';
import { colon, comma } from './characters.ts';
import type { Reading } from './parse-json.ts';
import { endOfLine, endsThere, quoteText, removal, type Scanner } from './parser-state.ts';
import { opensString, readString } from './scan-string.ts';
import { endOfWord } from './scan-word.ts';
import type { ArrayNode, JsonNode, Member, ObjectNode, TextRange } from './syntax-tree.ts';

/** A key was read; its colon and value follow. */
export function startMember(frame: Frame, node: ObjectNode, key: string, keyStart: number, keyEnd: number): void {
  const member: Member = { key, keyStart, keyEnd, value: { kind: 'unread', start: keyStart, end: keyEnd } };
  node.members.push(member);
  frame.member = member;
  frame.state = 'colon';
}

/** `"name: "Acme"`: a key whose closing quote was forgotten took its colon along. Its value begins at the quote that ended it. */
export function keyUnclosed(scanner: Scanner, frame: Frame, node: ObjectNode, key: string, start: number): boolean {
  const { text } = scanner;
  const end = scanner.at;
  const name = /^([\w$-]+)\s*:\s*$/.exec(key)?.[1];
  if (name === undefined || text[end - 1] !== '"' || /[\s:]/.test(text[end] ?? ' ')) return false;
  const keyEnd = start + 1 + name.length;
  scanner.report({
    range: { start, end: keyEnd },
    message: `The key ${quoteText(text, { start, end: keyEnd })} is not closed.`,
    suggestion: 'Put a double quote at its end.',
    fix: { range: { start: keyEnd, end: keyEnd }, newText: '"' },
  });
  startMember(frame, node, name, start, keyEnd);
  frame.state = 'value';
  scanner.at = scanner.lastEnd = end - 1;
  return true;
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
  scanner.lost = false;
  if (code === comma) return;
  const range = { start: frame.comma, end: scanner.at };
  scanner.report({
    range,
    message: `${code === 0x3b ? 'A semicolon' : 'A wide comma'} stands where a comma belongs.`,
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
  const certain = !scanner.lost; // else text that does not belong stands before it
  scanner.lost = false;
  scanner.report({
    range,
    message: `A comma is missing before ${quoteText(scanner.text, range)}.`,
    suggestion: 'Put a comma after the value before it.',
    ...(certain && { fix: { range: { start: at, end: at }, newText: ',' } }),
  });
}

/** In an array of objects, `{` where a key belongs begins the next one: the one before was not closed. */
export function endBeforeSibling(reading: Reading, node: ObjectNode): void {
  const { scanner, frames } = reading;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({ range, message: 'The object before this one is not closed.', suggestion: 'Put } before it.' });
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
  const own = frames.at(-1);
  if (key?.kind !== 'string' || parent?.node.kind !== 'object') return false;
  const range = { start: key.start, end: key.end };
  reading.surplus ??= surplusOf(reading);
  if (reading.surplus > 0 && own?.holdsObject) {
    reading.surplus--;
    const message = `There is no { before the key ${quoteText(scanner.text, range)}.`;
    scanner.report({ range, message, suggestion: 'Put { before it.' });
    const object: ObjectNode = { kind: 'object', members: [], start: key.start, end: key.end, damaged: true };
    node.items.splice(-1, 1, object);
    const frame = openFrame(object);
    frames.push(frame);
    startMember(frame, object, key.value, key.start, key.end);
    return true;
  }
  const message = `The list before the key ${quoteText(scanner.text, range)} is not closed.`;
  scanner.report({ range, message, suggestion: 'Put ] before it.' });
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
  // Where the value before it ends is a guess, too.
  const { member } = reading.frames.at(-1) as Frame;
  if (node.kind === 'array') node.items.splice(-1, 1, unread(node.items.at(-1)));
  else if (member) member.value = unread(member.value);
  scanner.lost = true;
}

function unread(node: JsonNode | undefined): JsonNode {
  return { kind: 'unread', start: node?.start ?? 0, end: node?.end ?? 0 };
}

/** Behind a value, a double quote that opens nothing, or a string that belongs to text skipped before it: skipped as well. */
export function skipStray({ scanner }: Reading): boolean {
  const { text, at } = scanner;
  if (scanner.lost) {
    if (!onSameLine(text, scanner.lastEnd, at) || keyFollows(scanner)) return false;
    readString(scanner);
    return true;
  }
  if (text.charCodeAt(at) !== 0x22 || scanner.lastEnd !== at || !endsThere(text, at + 1)) return false;
  scanner.at = scanner.lastEnd = at + 1;
  scanner.report(removal({ start: at, end: at + 1 }, 'There is a double quote too many here.', 'Remove it.'));
  return true;
}

/** Whether a string with its colon follows: a key. */
export function keyFollows(scanner: Scanner): boolean {
  const { end } = tokenAt(scanner);
  return /^\s{0,20}:/.test(scanner.text.slice(end, end + 21));
}

/** In an object, a word that is no key: nothing is made of it. */
export function strayWord(reading: Reading, frame: Frame, node: ObjectNode): void {
  const { scanner } = reading;
  const { text } = scanner;
  const range = tokenAt(scanner);
  scanner.at = scanner.lastEnd = range.end;
  node.damaged = true;
  scanner.report({
    range,
    message: `The text ${quoteText(text, range)} does not belong here.`,
    suggestion: 'Remove it, or make it a key in double quotes with a value.',
  });
  const comma = /^[ \t]{0,20},/.exec(text.slice(range.end, range.end + 21));
  if (comma) scanner.at += comma[0].length;
  frame.comma = -1; // whether the comma before it is needed shows once it is removed
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
  return end > at && /^"?\s{0,20}[:=：]/.test(text.slice(end, end + 21));
}

/** Whether there is no line break between two offsets. */
export function onSameLine(text: string, from: number, to: number): boolean {
  return endOfLine(text, from, to) === to;
}
