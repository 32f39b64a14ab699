import { consumeExtraClosing, hasExtraClosing } from './brackets.ts';
import { createRemoval, type Frame, maxDepth, openFrame, type ParserState, type Scanner, startMember } from './parser-state.ts';
import { bareKeyFollows, keyFollows, peekToken, repeatsKey } from './scan-mark.ts';
import { opensString, scanString } from './scan-string.ts';
import { colon, comma, endsInQuote, mayContinue, onSameLine, quoteText, valueCanEnd } from './source-text.ts';
import { type ArrayNode, createObjectNode, type JsonNode, type ObjectNode, type StringNode } from './syntax-tree.ts';

/**
 * `"name: "Acme"` and `"name': "Acme"`: the key lacks its closing quote, so the scanned string includes the colon. The value
 * begins at the quote that ended it.
 */
export function splitUnclosedKey(scanner: Scanner, frame: Frame, node: ObjectNode, key: string, start: number): boolean {
  const { text } = scanner;
  const end = scanner.at;
  const [, name, wrongQuote = ''] = /^([\w$-]+)(['`\]{}[,:]?)\s*:\s*$/.exec(key) ?? [];
  if (name === undefined || text[end - 1] !== '"' || /[\s:]/.test(text[end] ?? ' ')) return false;
  const keyEnd = start + 1 + name.length;
  scanner.report({
    range: { start, end: keyEnd },
    message: `The key ${quoteText(text, { start, end: keyEnd })} is not closed.`,
    suggestion: 'Put a double quote at its end.',
    fix: { range: { start: keyEnd, end: keyEnd + wrongQuote.length }, newText: '"' },
  });
  startMember(frame, node, name, start, keyEnd);
  frame.state = 'value';
  scanner.at = scanner.lastEnd = end - 1;
  return true;
}

/** Reports a key without a value. */
export function reportKeyWithoutValue(scanner: Scanner, frame: Frame): void {
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

/** Takes the comma after a value; reports a semicolon or a full-width comma in its place. */
export function takeComma(scanner: Scanner, frame: Frame, code: number): void {
  frame.comma = scanner.at;
  frame.state = 'next';
  scanner.at++;
  scanner.recovering = false;
  if (code === comma) return;
  const range = { start: frame.comma, end: scanner.at };
  scanner.report({
    range,
    message: `A comma is expected here, not a ${code === 0x3b ? 'semicolon' : 'full-width comma'}.`,
    suggestion: 'Write a comma.',
    fix: { range, newText: ',' },
  });
}

/** Skips a comma with nothing before it. */
export function skipExtraComma(scanner: Scanner): void {
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.at++;
  scanner.report(createRemoval(range, 'There is nothing before this comma.', 'Remove this comma.'));
}

/** Reports that a value follows a value. */
export function reportMissingComma(scanner: Scanner, frame: Frame): void {
  frame.state = 'next';
  const range = peekToken(scanner);
  const at = scanner.lastEnd;
  const touchesString = scanner.at === at && endsInQuote(scanner.text, at);
  const isSecond = touchesString && opensString(scanner.text.charCodeAt(at));
  const isKey = keyFollows(scanner) || bareKeyFollows(scanner);
  // In an object only a key can follow: without its colon, the quotes on the same line may belong into the value before them.
  const isOther = frame.node.kind === 'object' && !isKey && onSameLine(scanner.text, at, scanner.at);
  // A word: the quote before it may open the next string, and the one that closes the string before it may be forgotten.
  const unclear = (touchesString && !isSecond) || isOther;
  const isRepeated = repeatsKey(scanner, frame.node);
  // Otherwise it follows unexpected text, or the quotes between two strings may be one that is doubled.
  const certain = !unclear && !scanner.recovering && (!isSecond || isKey) && !isRepeated;
  scanner.recovering = false;
  if (isOther && frame.member) frame.member.value = errorNode(frame.member.value);
  scanner.report({
    range,
    message: `A comma is missing before ${quoteText(scanner.text, range)}.`,
    suggestion: isRepeated
      ? 'Put }, { before it if another object begins here; otherwise a comma.'
      : 'Put a comma after the value before it.',
    ...(certain && { fix: { range: { start: at, end: at }, newText: ',' } }),
    ...(unclear && { unclear }),
  });
}

/** In an array of objects, `{` where a key belongs begins the next object: closes the one before it. */
export function endBeforeSibling(parser: ParserState, node: ObjectNode): void {
  const { scanner, frames } = parser;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({ range, message: 'The object before this one is not closed.', suggestion: 'Put } before it.' });
  node.damaged = true;
  node.end = scanner.lastEnd;
  frames.pop();
  const parent = frames.at(-1);
  if (parent) parent.state = 'next';
}

/** Reports a value, or a colon, where a key belongs. The value is parsed and discarded. */
export function reportValueWithoutKey(parser: ParserState, frame: Frame, node: ObjectNode, code: number): void {
  const { scanner } = parser;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.report({
    range,
    message: `A key in double quotes is expected here, not ${quoteText(scanner.text, range)}.`,
    suggestion: 'Write the key.',
  });
  node.damaged = true;
  frame.member = undefined; // so that the value is discarded
  if (code === colon) scanner.at++;
  frame.state = 'value';
}

/** `["a", "group": …`: the last string of the array is a key, so the array ended before it. False when it cannot be a key. */
export function closeArrayBeforeKey(parser: ParserState, node: ArrayNode): boolean {
  const { scanner, frames } = parser;
  const key = node.items.at(-1);
  const parent = frames.at(-2);
  if (key?.kind !== 'string' || parent?.node.kind !== 'object') return false;
  if (frames.at(-1)?.holdsObject && mayLackBrace(parser)) {
    node.items.splice(-1, 1, openObjectAtKey(parser, key));
    return true;
  }
  const range = { start: key.start, end: key.end };
  const message = `The list before the key ${quoteText(scanner.text, range)} is not closed.`;
  scanner.report({ range, message, suggestion: 'Put ] before it.' });
  node.items.pop();
  node.damaged = true;
  node.end = key.start;
  frames.pop();
  startMember(parent, parent.node, key.value, key.start, key.end);
  return true;
}

/** `"api": "auth": …`: the last value of the object is a key, so an object opens before it. False when it cannot be a key. */
export function openObjectBeforeKey(parser: ParserState): boolean {
  const member = parser.frames.at(-1)?.member;
  if (member?.value.kind !== 'string' || !mayLackBrace(parser)) return false;
  member.value = openObjectAtKey(parser, member.value);
  return true;
}

/** Whether an opening brace can be missing: a closing one has none, and the object would not be nested too deep. */
function mayLackBrace(parser: ParserState): boolean {
  return parser.frames.length < maxDepth && hasExtraClosing(parser);
}

/** Reports that an opening brace is missing before a string, and makes the string the first key of that object. */
function openObjectAtKey(parser: ParserState, { value, start, end }: StringNode): ObjectNode {
  const range = { start, end };
  const message = `There is no { before the key ${quoteText(parser.scanner.text, range)}.`;
  parser.scanner.report({ range, message, suggestion: 'Put { before it.' });
  consumeExtraClosing(parser);
  const object = createObjectNode(start, end, true);
  const frame = openFrame(object);
  parser.frames.push(frame);
  startMember(frame, object, value, start, end);
  return object;
}

/** Skips punctuation that does not fit. */
export function skipPunctuation(parser: ParserState, node: ObjectNode | ArrayNode): void {
  const { scanner } = parser;
  const range = { start: scanner.at, end: scanner.at + 1 };
  scanner.at++;
  node.damaged = true;
  scanner.report({
    range,
    message: `${quoteText(scanner.text, range)} is unexpected here.`,
    suggestion: 'Remove it, or write what is missing before it.',
  });
}

/** Skips text after a value, up to the next JSON punctuation. */
export function skipText(parser: ParserState, node: ObjectNode | ArrayNode): void {
  const { scanner } = parser;
  const range = peekToken(scanner);
  scanner.at = range.end;
  node.damaged = true;
  scanner.report({
    range,
    message: `The text ${quoteText(scanner.text, range)} is unexpected after a value.`,
    suggestion: 'Remove it; a double quote inside a string is written \\".',
    unclear: true,
  });
  // Where the value before it ends is a guess as well.
  const { member } = parser.frames.at(-1) as Frame;
  if (node.kind === 'array') node.items.splice(-1, 1, errorNode(node.items.at(-1)));
  else if (member) member.value = errorNode(member.value);
  scanner.recovering = true;
}

function errorNode(node: JsonNode | undefined): JsonNode {
  return { kind: 'error', start: node?.start ?? 0, end: node?.end ?? 0 };
}

/** After a value: skips a double quote that opens nothing, or a string that belongs to text skipped before it. */
export function skipStrayQuote({ scanner }: ParserState): boolean {
  const { text, at } = scanner;
  if (scanner.recovering) {
    if (!onSameLine(text, scanner.lastEnd, at) || keyFollows(scanner)) return false;
    scanString(scanner);
    return true;
  }
  if (text.charCodeAt(at) !== 0x22 || scanner.lastEnd !== at || !valueCanEnd(text, at + 1)) return false;
  reportExtraQuote(scanner);
  return true;
}

/** Reports and skips a double quote directly behind a key or value. */
export function reportExtraQuote(scanner: Scanner): void {
  const { text, at } = scanner;
  scanner.at = scanner.lastEnd = at + 1;
  const range = { start: at, end: at + 1 };
  const message = 'There is an extra double quote here.';
  const before = text.slice(Math.max(0, at - 2), at);
  // `5"`: the opening quote may be missing.
  if (/[\w.]$/.test(before)) scanner.report({ range, message, suggestion: 'Remove it, or write the one before it.' });
  // `"24""`: it may be the mark of inches or seconds. `"Acme \"Pro""`: it may be the other one of a pair.
  else if (/\d"$/.test(before) || mayContinue(text, at - 1))
    scanner.report({ range, message, suggestion: 'Remove it; a double quote inside a string is written \\".', unclear: true });
  else scanner.report(createRemoval(range, message, 'Remove it.'));
}

/** Skips a word in an object that is not a key. */
export function skipStrayWord(parser: ParserState, frame: Frame, node: ObjectNode): void {
  const { scanner } = parser;
  const { text } = scanner;
  const range = peekToken(scanner);
  scanner.at = scanner.lastEnd = range.end;
  node.damaged = true;
  scanner.report({
    range,
    message: `The text ${quoteText(text, range)} is unexpected here.`,
    suggestion: 'Remove it, or make it a key in double quotes with a value.',
  });
  const comma = /^[ \t]{0,20},/.exec(text.slice(range.end, range.end + 21));
  if (comma) scanner.at += comma[0].length;
  frame.comma = -1; // whether the comma before it is needed is known only once the word is removed
}
