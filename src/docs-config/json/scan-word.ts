import type { Scanner } from './parser-state.ts';
import { opensString } from './scan-string.ts';
import { isOtherSpace, quoteText, valueCanEnd } from './source-text.ts';
import type { JsonNode } from './syntax-tree.ts';

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const otherNumber = /^[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?|\d+\.)$/;

/** Literals of other languages, with the JSON literal that they mean. */
const literals: Readonly<Record<string, string>> = {
  True: 'true',
  TRUE: 'true',
  False: 'false',
  FALSE: 'false',
  None: 'null',
  NULL: 'null',
  Null: 'null',
  nil: 'null',
  undefined: 'null',
  NaN: 'null',
  Infinity: 'null',
  '-Infinity': 'null',
};

/** The end of a run without spaces, quotes and JSON punctuation. A colon belongs to it when `//` follows. */
export function endOfWord(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 32 || code === 0x2c || code === 0x7b || code === 0x7d || code === 0x5b || code === 0x5d || opensString(code))
      break;
    if (code >= 0x7f && (isOtherSpace(code) || (at > from && (code === 0xff0c || code === 0xff1a)))) break;
    if (code === 0x3a && !text.startsWith('//', at + 1)) break;
  }
  return at;
}

/** Scans and reports an unquoted key, from its first character. */
export function scanBareKey(scanner: Scanner): string {
  const start = scanner.at;
  const end = endOfWord(scanner.text, start);
  const range = { start, end: scanner.text[end] === '"' ? end + 1 : end };
  scanner.at = scanner.lastEnd = range.end;
  const key = scanner.text.slice(start, end);
  const newText = JSON.stringify(key);
  const problem = { range, message: `The key ${quoteText(scanner.text, range)} is not in quotes.` };
  if (/^-*[\w$][\w$-]*$/.test(key)) scanner.report({ ...problem, suggestion: `Write ${newText}.`, fix: { range, newText } });
  else scanner.report({ ...problem, suggestion: 'Put keys in double quotes, or remove this text.' });
  return key;
}

/** Words that other languages read as something else than text, but not as what the word of JSON means; also before a comment. */
const foreignWord = /^-?(?:true|false|null|none|nil|undefined|yes|no|on|off|y|n|nan|inf|infinity)(?:#|$)/i;

/** Whether unquoted text can only be meant as this text. */
function isPlain(value: string): boolean {
  if (!/^[\w./:#@-]+$/.test(value) || foreignWord.test(value)) return false;
  if (/^-?\.?\d/.test(value)) return /^\d+(?:\.\d+){2,}$/.test(value); // 1.2.3, unlike 1_000, 10n and 60/2
  return !/[^:]\/\//.test(value);
}

/** Scans a number or literal, or unquoted text, which it reports. */
export function scanWord(scanner: Scanner): JsonNode {
  const { text } = scanner;
  const start = scanner.at;
  let end = endOfWord(text, start);
  const word = text.slice(start, end);
  if (word === 'true' || word === 'false') return finish(scanner, { kind: 'boolean', start, end, value: word === 'true' });
  if (word === 'null') return finish(scanner, { kind: 'null', start, end });
  if (number.test(word)) return finish(scanner, { kind: 'number', start, end });
  const literal = Object.hasOwn(literals, word) ? literals[word] : undefined;
  if (literal) return scanForeignLiteral(scanner, start, end, literal);
  if (otherNumber.test(word)) return scanOtherNumber(scanner, start, end, word);
  end = endOfBareText(text, end);
  const range = { start, end };
  const value = text.slice(start, end);
  const isOmission = /^[.…]+$/.test(word);
  if (isOmission || /^[\p{P}\p{S}\s]+$/u.test(value)) {
    scanner.report({
      range,
      message: `${quoteText(text, range)} is not a JSON value.`,
      suggestion: 'Write the value, or remove this.',
      ...(!isOmission && { unclear: true }),
    });
    return finish(scanner, { kind: 'error', start, end });
  }
  const newText = JSON.stringify(value);
  // `Acme"`: only the opening quote is missing. `Screen 24"`: it may be the mark of inches.
  const half = text[end] === '"' && valueCanEnd(text, end + 1);
  if (half) range.end = ++end;
  // `Fast, simple"`: the comma may belong to the text.
  if (half && /[^\s"[\]{},]\s{0,20},\s{0,20}$/.test(text.slice(Math.max(0, start - 42), start))) scanner.doubt(start);
  const isEnd = valueCanEnd(text, end);
  const certain = isEnd && (half ? !/\\|\s[\d.]+$|[=:]$/.test(value) : isPlain(value));
  scanner.report({
    range,
    message: half
      ? `The string ${quoteText(text, range)} has no opening double quote.`
      : `The text ${quoteText(text, range)} is not in quotes.`,
    suggestion: newText.length > 60 ? 'Put it between double quotes.' : `Write ${newText}.`,
    ...(certain && { fix: { range, newText } }),
    ...(!isEnd && { unclear: true }),
  });
  scanner.recovering ||= !isEnd;
  return finish(scanner, { kind: 'string', start, end, value });
}

/** The end of unquoted text: words on the same line, up to the next JSON punctuation, belong to it. */
export function endOfBareText(text: string, from: number): number {
  let end = from;
  for (let at = from; at < text.length; ) {
    while (text[at] === ' ' || text[at] === '\t') at++;
    const next = endOfWord(text, at);
    if (next === at) break;
    end = at = next;
  }
  return end;
}

function finish(scanner: Scanner, node: JsonNode): JsonNode {
  scanner.at = scanner.lastEnd = node.end;
  return node;
}

function scanForeignLiteral(scanner: Scanner, start: number, end: number, literal: string): JsonNode {
  const range = { start, end };
  const problem = { range, message: `JSON has no ${quoteText(scanner.text, range)}.`, suggestion: `Write ${literal}.` };
  // A literal for "nothing" is better removed with its key, so no edit is certain, and no rule should add a diagnostic.
  if (literal === 'null') {
    scanner.report({ ...problem, suggestion: 'Write a value, or remove the key.' });
    return finish(scanner, { kind: 'error', start, end });
  }
  scanner.report({ ...problem, fix: { range, newText: literal } });
  return finish(scanner, { kind: 'boolean', start, end, value: literal === 'true' });
}

/** Reports a number as JSON does not write it. No fix: where a string belongs, which is nearly everywhere, its text counts. */
function scanOtherNumber(scanner: Scanner, start: number, end: number, word: string): JsonNode {
  const range = { start, end };
  const newText = word
    .replace(/^\+/, '')
    .replace(/^-?(?=\.)/, '$&0')
    .replace(/\.$/, '');
  scanner.report({
    range,
    message: `JSON does not write numbers as ${quoteText(scanner.text, range)}.`,
    // 007 may be octal, 0xfff a color.
    suggestion: `Write ${number.test(newText) ? newText : 'it in decimal without leading zeros'}, or put it in double quotes.`,
  });
  return finish(scanner, { kind: 'number', start, end });
}
