import { createRemoval, type Scanner } from './parser-state.ts';
import { keyCanEnd, quoteText, valueCanEnd } from './source-text.ts';
import { closeAtLineEnd, findEndOnLaterLine, punctuation } from './unclosed-string.ts';

/** The characters that can open a string, by code, with those that can then close it. Only the first is JSON. */
const closers = new Map([
  [0x22, '"'],
  [0x27, "'"],
  [0x60, '`'],
  [0x201c, '”“"'],
  [0x201d, '”“"'],
  [0x201e, '”“"'],
  [0xff02, '＂"'],
  [0x2018, "’‘'"],
  [0x2019, "’‘'"],
]);

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** `""name"`: the opening quote is doubled. */
const doubled = /^""[^"\s,\]}:][^"\r\n]*"[ \t]*(?:[:,\]}\r\n]|$)/;

/** Whether a string begins with this character, in JSON or with one of the other quotes. */
export function opensString(code: number): boolean {
  return code === 0x22 || closers.has(code);
}

/** Scans a string and returns its value. Its range is from the position of the scanner before the call to the one after it. */
export function scanString(scanner: Scanner): string {
  const { text } = scanner;
  let start = scanner.at;
  if (text.charCodeAt(start + 1) === text.charCodeAt(start)) {
    const tripled = scanTripled(scanner, start);
    if (tripled !== undefined) return tripled;
    if (text[start] === '"' && doubled.test(text.slice(start, start + 300))) {
      scanner.report(createRemoval({ start, end: start + 1 }, 'There is an extra double quote here.', 'Remove it.'));
      start++;
    }
  }
  if (text.charCodeAt(start) === 0x22) {
    // Fast path, for nearly every string: no escapes, no problems.
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        scanner.at = scanner.lastEnd = at + 1;
        return text.slice(start + 1, at);
      }
      if (code === 0x5c || code < 0x20) break;
    }
  }
  return scanStringWithEscapes(scanner, start);
}

/** How far the end of a string is searched for: real strings are shorter. */
const maxSearched = 10_000;

/** Scans a string in three quotes, of which Python and others remove an unknown part; undefined when it is not one. */
function scanTripled(scanner: Scanner, start: number): string | undefined {
  const { text } = scanner;
  const quotes = (text[start] as string).repeat(3);
  if (!text.startsWith(quotes, start)) return undefined;
  const from = start + 3;
  const length = text.slice(from, from + maxSearched).indexOf(quotes);
  if (length === -1) return undefined;
  const range = { start, end: from + length + 3 };
  scanner.at = scanner.lastEnd = range.end;
  scanner.report({
    range,
    message: `JSON has no strings in three quotes, as in ${quoteText(text, range)}.`,
    suggestion: 'Put it between double quotes, and write \\n for each line break.',
  });
  return text.slice(from, from + length);
}

function scanStringWithEscapes(scanner: Scanner, start: number): string {
  const { text } = scanner;
  const closing = closers.get(text.charCodeAt(start)) ?? '"';
  const parts: string[] = [];
  let from = start + 1;
  let at = from;
  let certain = true;
  let hasLines = false;
  let continuedAt = -1; // the line break behind the last backslash that ends a line
  for (; at < text.length; at++) {
    const character = text[at] as string;
    if (closing.includes(character)) break;
    if (character === '\\') {
      parts.push(text.slice(from, at));
      const escaped = scanEscape(scanner, at);
      certain &&= escaped.certain;
      parts.push(escaped.value);
      if (escaped.end === at + 1) continuedAt = escaped.end;
      at = escaped.end - 1;
      from = escaped.end;
    } else if (character === '\n' || character === '\r') {
      let next = at;
      while (next < text.length && (text[next] as string) <= ' ') next++;
      const isContinued = at === continuedAt;
      if (!hasLines) {
        const end = findEndOnLaterLine(text, next, closing);
        const canClose = punctuation.includes(text[next] ?? '}');
        hasLines = end === 'found' && (isContinued || !canClose);
        if (!hasLines) return closeAtLineEnd(scanner, { start, from, lineEnd: at, next }, parts, canClose && end === 'none');
      }
      const lines = text.slice(at, next).replace(/\r\n?/g, '\n');
      if (!isContinued) reportControl(scanner, at, next, JSON.stringify(lines).slice(1, -1));
      parts.push(text.slice(from, at), lines);
      from = next;
      at = next - 1;
    } else if (character < ' ') reportControl(scanner, at, at + 1, JSON.stringify(character).slice(1, -1));
  }
  if (at >= text.length) return closeAtLineEnd(scanner, { start, from, lineEnd: at, next: at }, parts, false);
  parts.push(text.slice(from, at));
  scanner.at = scanner.lastEnd = at + 1;
  const value = parts.join('');
  if (text[start] !== '"' || text[at] !== '"') reportQuotes(scanner, start, at + 1, value, certain);
  return value;
}

/** Scans an escape; it is not `certain` what one means that JSON does not have. */
function scanEscape(scanner: Scanner, at: number): { value: string; end: number; certain: boolean } {
  const { text } = scanner;
  const letter = text[at + 1];
  if (letter === 'u' && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) {
    return { value: String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16)), end: at + 6, certain: true };
  }
  const value = letter === undefined ? undefined : Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (value !== undefined) return { value, end: at + 2, certain: true };
  if (letter === undefined || letter === '\n' || letter === '\r') {
    scanner.report({
      range: { start: at, end: at + 1 },
      message: 'A backslash ends the line inside a string.',
      suggestion: 'Remove it and the line break, or write \\n for both.',
    });
    return { value: '', end: at + 1, certain: false };
  }
  const range = { start: at, end: at + 2 };
  const problem = { range, message: `JSON strings have no escape ${quoteText(text, range)}.` };
  if (letter === "'" || letter === '`') {
    scanner.report({ ...problem, suggestion: `Write ${letter} without the backslash.`, fix: { range, newText: letter } });
    return { value: letter, end: at + 2, certain: true };
  }
  scanner.report({ ...problem, suggestion: 'Write \\\\ for a backslash.' });
  return { value: letter, end: at + 2, certain: false };
}

function reportControl(scanner: Scanner, start: number, end: number, newText: string): void {
  const code = scanner.text.charCodeAt(start);
  const isBreak = code === 10 || code === 13;
  const what = code === 9 ? 'a tab' : isBreak ? 'a line break' : `the control character U+${toHex(code)}`;
  const range = { start, end };
  scanner.report({
    range,
    message: `The string contains ${what}.`,
    suggestion: `Write ${isBreak ? '\\n' : newText}, or remove it.`,
    fix: { range, newText },
  });
}

function toHex(code: number): string {
  return code.toString(16).toUpperCase().padStart(4, '0');
}

/** Reports other quotes than JSON has. There is a fix when the string means `value` for certain, and ends where it seems to. */
function reportQuotes(scanner: Scanner, start: number, end: number, value: string, certain: boolean): void {
  const { text } = scanner;
  const range = { start, end };
  const newText = JSON.stringify(value);
  const isNext = text[end] === ' ' && text[end + 1] === text[start]; // the comma between two strings is missing
  const isEnd = isNext || valueCanEnd(text, end) || keyCanEnd(text, end);
  const isTemplate = text[start] === '`' && value.includes('${');
  // Its quotes may be apostrophes in other strings, of which it then spans several.
  const spansStrings = /"\s*[:,[\]{}]|[:,[\]{}]\s*"/.test(text.slice(start + 1, end - 1));
  const hasFix = certain && isEnd && !isTemplate && !spansStrings;
  scanner.report({
    range,
    message: `JSON strings are enclosed in straight double quotes, not as in ${quoteText(text, range)}.`,
    suggestion: `Write ${newText.length > 60 || !hasFix ? 'straight double quotes' : newText}.`,
    ...(hasFix && { fix: { range, newText } }),
    ...((!isEnd || spansStrings) && { unclear: true }),
  });
  scanner.recovering ||= !isEnd;
}
