import { createRemoval, type Scanner } from './parser-state.ts';
import { codePointOf, keyCanEnd, quoteText, valueCanEnd } from './source-text.ts';
import { TextBuilder } from './text-builder.ts';

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
  // What is wrong in other quotes is fixed with them, or not at all: alone, it may change where the string ends.
  const isQuoted = text[start] === '"';
  const value = new TextBuilder();
  let from = start + 1;
  let at = from;
  let certain = true;
  let hasLines = false;
  let continuedAt = -1; // the line break behind the last backslash that ends a line
  for (; at < text.length; at++) {
    const character = text[at] as string;
    if (closing.includes(character)) break;
    if (character === '\\') {
      value.add(text.slice(from, at));
      const escaped = scanEscape(scanner, at, isQuoted);
      certain &&= escaped.certain;
      value.add(escaped.value);
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
        if (!hasLines) return closeAtLineEnd(scanner, { start, from, lineEnd: at, next }, value, canClose && end === 'none');
      }
      const lines = text.slice(at, next).replace(/\r\n?/g, '\n');
      if (isQuoted && !isContinued) reportControl(scanner, at, next, JSON.stringify(lines).slice(1, -1));
      value.add(text.slice(from, at));
      value.add(lines);
      from = next;
      at = next - 1;
    } else if (isQuoted && character < ' ') reportControl(scanner, at, at + 1, JSON.stringify(character).slice(1, -1));
  }
  if (at >= text.length) return closeAtLineEnd(scanner, { start, from, lineEnd: at, next: at }, value, false);
  value.add(text.slice(from, at));
  scanner.at = scanner.lastEnd = at + 1;
  const result = value.toString();
  if (text[start] !== '"' || text[at] !== '"') reportQuotes(scanner, start, at + 1, result, certain);
  return result;
}

/** An escape that JSON has. */
const standardEscape = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;

/** Scans an escape; it is not `certain` what one means that JSON does not have. `isQuoted`: its string has JSON's quotes. */
function scanEscape(scanner: Scanner, at: number, isQuoted: boolean): { value: string; end: number; certain: boolean } {
  const { text } = scanner;
  const [known] = standardEscape.exec(text.slice(at, at + 6)) ?? [];
  if (known !== undefined) return { value: JSON.parse(`"${known}"`), end: at + known.length, certain: true };
  const letter = text[at + 1];
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
    if (isQuoted) {
      scanner.report({ ...problem, suggestion: `Write ${letter} without the backslash.`, fix: { range, newText: letter } });
    }
    return { value: letter, end: at + 2, certain: true };
  }
  scanner.report({ ...problem, suggestion: 'Write \\\\ for a backslash.' });
  return { value: letter, end: at + 2, certain: false };
}

function reportControl(scanner: Scanner, start: number, end: number, newText: string): void {
  const code = scanner.text.charCodeAt(start);
  const isBreak = code === 10 || code === 13;
  const what = code === 9 ? 'a tab' : isBreak ? 'a line break' : `the control character ${codePointOf(code)}`;
  const range = { start, end };
  scanner.report({
    range,
    message: `The string contains ${what}.`,
    suggestion: `Write ${isBreak ? '\\n' : newText}, or remove it.`,
    fix: { range, newText },
  });
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

/** What begins a line after an unclosed string. */
const punctuation = '"\'}]{[,<=>';

/**
 * Whether a string ends on a later line, because what closes it first stands where a value can end. `none`: it does not, so it is
 * unclosed; `unknown`: that is too far away, or what lies between is a comment or a part of the string.
 */
function findEndOnLaterLine(text: string, from: number, closing: string): 'found' | 'none' | 'unknown' {
  if (text[from] === '#' || text.startsWith('//', from) || text.startsWith('/*', from)) return 'unknown';
  const limit = Math.min(text.length, from + 1000);
  for (let at = from; at < limit; at++) {
    const character = text[at] as string;
    if (character === '\\') at++;
    else if (closing.includes(character)) return valueCanEnd(text, at + 1) ? 'found' : 'none';
  }
  return limit < text.length ? 'unknown' : 'none';
}

/** Whether only whitespace and at most one comma are between two offsets. */
function isOutside(text: string, from: number, to: number): boolean {
  return !/[^ \t\r,]|,[\s\S]*,/.test(text.slice(from, to));
}

interface UnclosedString {
  readonly start: number;
  /** Where the part of the text begins that is not in the value yet. */
  readonly from: number;
  readonly lineEnd: number;
  /** What comes after the line break. */
  readonly next: number;
}

/**
 * Closes a string at the end of its line, before the comma or brackets that most likely follow it.
 *
 * @param isUnclosed whether it cannot go on after the line.
 */
function closeAtLineEnd(
  scanner: Scanner,
  { start, from, lineEnd, next }: UnclosedString,
  value: TextBuilder,
  isUnclosed: boolean,
): string {
  const { text } = scanner;
  let end = lineEnd;
  while (end > from && ' \t\r\n,]}'.includes(text[end - 1] as string)) end--;
  scanner.at = scanner.lastEnd = end;
  const range = { start, end };
  const curly = end > from && end > start + 2 && '”“'.includes(text[end - 1] as string);
  // The closing quote has only one possible position when only a comma that is needed there was taken as outside of the string.
  const certain =
    isUnclosed &&
    text[start] === '"' &&
    end > from &&
    // `"a'`, and `"“a”`: it may be its closing quote, or not.
    !"'`‘’＂".includes(text[end - 1] as string) &&
    !(curly && /[“„]/.test(text.slice(start, end - 1))) &&
    isOutside(text, end, lineEnd) &&
    !(text.slice(end, lineEnd).includes(',') && '}]'.includes(text[next] ?? '}')) &&
    !/\s(?:#|\/[/*])/.test(text.slice(from, end));
  scanner.report({
    range,
    message: `The string ${quoteText(text, range)} is not closed.`,
    suggestion: 'Put a double quote at its end.',
    ...(certain ? { fix: { range: { start: curly ? end - 1 : end, end }, newText: '"' } } : { unclear: true }),
  });
  value.add(text.slice(from, curly ? end - 1 : end));
  return value.toString();
}
