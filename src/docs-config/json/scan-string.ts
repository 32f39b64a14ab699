import { comma } from './characters.ts';
import { createRemoval, type Scanner } from './parser-state.ts';
import { endOfLine, quoteText } from './source-text.ts';

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
const doubled = /^""[^"\s,\]}:][^"\r\n]*"{1,2}[ \t]*(?:[:,\]}\r\n]|$)/;

/** Whether a string begins with this character, in JSON or with one of the other quotes. */
export function opensString(code: number): boolean {
  return code === 0x22 || closers.has(code);
}

/** Scans a string and returns its value. Its range is from the position of the scanner before the call to the one after it. */
export function scanString(scanner: Scanner): string {
  const { text } = scanner;
  let start = scanner.at;
  if (text.charCodeAt(start + 1) === 0x22 && doubled.test(text.slice(start, start + 300))) {
    scanner.report(createRemoval({ start, end: start + 1 }, 'There is an extra double quote here.', 'Remove it.'));
    start++;
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

function scanStringWithEscapes(scanner: Scanner, start: number): string {
  const { text } = scanner;
  const closing = closers.get(text.charCodeAt(start)) ?? '"';
  const parts: string[] = [];
  let from = start + 1;
  let at = from;
  for (; at < text.length; at++) {
    const character = text[at] as string;
    if (closing.includes(character)) break;
    if (character === '\\') {
      parts.push(text.slice(from, at));
      const escaped = scanEscape(scanner, at);
      parts.push(escaped.value);
      at = escaped.end - 1;
      from = escaped.end;
    } else if (character === '\n' || character === '\r') {
      const next = findNextLine(text, at);
      if (next === undefined) return closeAtLineEnd(scanner, start, from, at, parts);
      reportControl(scanner, at, next);
      parts.push(text.slice(from, at), '\n');
      from = next;
      at = next - 1;
    } else if (character < ' ') reportControl(scanner, at, at + 1);
  }
  if (at >= text.length) return closeAtLineEnd(scanner, start, from, at, parts);
  parts.push(text.slice(from, at));
  scanner.at = scanner.lastEnd = at + 1;
  const value = parts.join('');
  if (text[start] !== '"' || text[at] !== '"') reportQuotes(scanner, start, at + 1, value);
  return value;
}

function scanEscape(scanner: Scanner, at: number): { value: string; end: number } {
  const { text } = scanner;
  const letter = text[at + 1];
  if (letter === 'u' && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) {
    return { value: String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16)), end: at + 6 };
  }
  const value = letter === undefined ? undefined : Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (value !== undefined) return { value, end: at + 2 };
  if (letter === undefined || letter === '\n' || letter === '\r') {
    scanner.report({
      range: { start: at, end: at + 1 },
      message: 'A backslash ends the line inside a string.',
      suggestion: 'Remove it.',
    });
    return { value: '', end: at + 1 };
  }
  const range = { start: at, end: at + 2 };
  const problem = { range, message: `JSON strings have no escape ${quoteText(text, range)}.` };
  if (letter === "'" || letter === '`') {
    scanner.report({ ...problem, suggestion: `Write ${letter} without the backslash.`, fix: { range, newText: letter } });
  } else {
    scanner.report({ ...problem, suggestion: 'Write \\\\ for a backslash.' });
  }
  return { value: letter, end: at + 2 };
}

/** The offset where the string continues after a line break; undefined when it is more likely unclosed. */
function findNextLine(text: string, at: number): number | undefined {
  let next = at;
  while (next < text.length && (text[next] as string) <= ' ') next++;
  if (next >= text.length || '"\'}]{[,<=>/'.includes(text[next] as string)) return undefined;
  // A multi-line string ends in a quote; without one on the next line it counts as unclosed.
  return text.slice(next, endOfLine(text, next, Math.min(text.length, next + 1000))).includes('"') ? next : undefined;
}

function reportControl(scanner: Scanner, start: number, end: number): void {
  const code = scanner.text.charCodeAt(start);
  const newText = code === 9 ? '\\t' : code === 10 || code === 13 ? '\\n' : `\\u${code.toString(16).padStart(4, '0')}`;
  const what =
    code === 9
      ? 'a tab'
      : code === 10 || code === 13
        ? 'a line break'
        : `the control character U+${newText.slice(2).toUpperCase()}`;
  const range = { start, end };
  scanner.report({
    range,
    message: `The string contains ${what}.`,
    suggestion: `Write ${newText}, or remove it.`,
    fix: { range, newText },
  });
}

function reportQuotes(scanner: Scanner, start: number, end: number, value: string): void {
  const range = { start, end };
  const newText = JSON.stringify(value);
  scanner.report({
    range,
    message: `JSON strings are enclosed in straight double quotes, not as in ${quoteText(scanner.text, range)}.`,
    suggestion: `Write ${newText.length > 60 ? 'straight double quotes' : newText}.`,
    fix: { range, newText },
  });
}

/** Whether only whitespace and at most one comma are between two offsets. */
function isOutside(text: string, from: number, to: number): boolean {
  let commas = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === comma) commas++;
    else if (code !== 32 && code !== 9 && code !== 13) return false;
  }
  return commas <= 1;
}

/** Closes a string at the end of its line, before the comma or brackets that most likely follow it. */
function closeAtLineEnd(scanner: Scanner, start: number, from: number, lineEnd: number, parts: string[]): string {
  const { text } = scanner;
  let end = lineEnd;
  while (end > from && ' \t\r\n,]}'.includes(text[end - 1] as string)) end--;
  scanner.at = scanner.lastEnd = end;
  const range = { start, end };
  // When only a comma was taken as outside of the string, the closing quote has only one possible position.
  const certain = end > from && isOutside(text, end, lineEnd) && text[start] === '"' && lineEnd < text.length;
  const curly = end > from + 1 && '”“'.includes(text[end - 1] as string);
  scanner.report({
    range,
    message: `The string ${quoteText(text, range)} is not closed.`,
    suggestion: 'Put a double quote at its end.',
    ...(certain && { fix: { range: { start: curly ? end - 1 : end, end }, newText: '"' } }),
  });
  parts.push(text.slice(from, curly ? end - 1 : end));
  return parts.join('');
}
