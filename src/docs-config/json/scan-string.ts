import { comma } from './characters.ts';
import { endOfLine, quoteText, removal, type Scanner } from './parser-state.ts';

/** What may open a string, by character code, and what may then close it. Only the first is JSON. */
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

/** `""name"`: the opening quote stands twice. */
const doubled = /^""[^"\s,\]}:][^"\r\n]*"{1,2}[ \t]*(?:[:,\]}\r\n]|$)/;

/** Whether a string, proper or not, begins with this character. */
export function opensString(code: number): boolean {
  return code === 0x22 || closers.has(code);
}

/** A string token: its meaning; its range is from where the scanner stood to where it stands now. */
export function readString(scanner: Scanner): string {
  const { text } = scanner;
  let start = scanner.at;
  if (text.charCodeAt(start + 1) === 0x22 && doubled.test(text.slice(start, start + 300))) {
    scanner.report(removal({ start, end: start + 1 }, 'There is a double quote too many here.', 'Remove it.'));
    start++;
  }
  if (text.charCodeAt(start) === 0x22) {
    // The way of nearly every string: no escape, nothing wrong.
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        scanner.at = scanner.lastEnd = at + 1;
        return text.slice(start + 1, at);
      }
      if (code === 0x5c || code < 0x20) break;
    }
  }
  return readSlowly(scanner, start);
}

function readSlowly(scanner: Scanner, start: number): string {
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
      const escaped = readEscape(scanner, at);
      parts.push(escaped.value);
      at = escaped.end - 1;
      from = escaped.end;
    } else if (character === '\n' || character === '\r') {
      const next = nextLineOfString(text, at);
      if (next === undefined) return endUnclosed(scanner, start, from, at, parts);
      reportControl(scanner, at, next);
      parts.push(text.slice(from, at), '\n');
      from = next;
      at = next - 1;
    } else if (character < ' ') reportControl(scanner, at, at + 1);
  }
  if (at >= text.length) return endUnclosed(scanner, start, from, at, parts);
  parts.push(text.slice(from, at));
  scanner.at = scanner.lastEnd = at + 1;
  const value = parts.join('');
  if (text[start] !== '"' || text[at] !== '"') reportQuotes(scanner, start, at + 1, value);
  return value;
}

function readEscape(scanner: Scanner, at: number): { value: string; end: number } {
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

/** Where the string goes on after a line break, or undefined when it was rather left unclosed. */
function nextLineOfString(text: string, at: number): number | undefined {
  let next = at;
  while (next < text.length && (text[next] as string) <= ' ') next++;
  if (next >= text.length || '"\'}]{[,<=>/'.includes(text[next] as string)) return undefined;
  // A text over several lines ends in a quote somewhere; without one on the next line take it as unclosed.
  return text.slice(next, endOfLine(text, next, Math.min(text.length, next + 1000))).includes('"') ? next : undefined;
}

function reportControl(scanner: Scanner, start: number, end: number): void {
  const code = scanner.text.charCodeAt(start);
  const newText = code === 9 ? '\\t' : code === 10 || code === 13 ? '\\n' : `\\u${code.toString(16).padStart(4, '0')}`;
  const what =
    code === 9
      ? 'A tab'
      : code === 10 || code === 13
        ? 'A line break'
        : `The control character U+${newText.slice(2).toUpperCase()}`;
  const range = { start, end };
  scanner.report({
    range,
    message: `${what} stands inside a string.`,
    suggestion: `Write ${newText}, or remove it.`,
    fix: { range, newText },
  });
}

function reportQuotes(scanner: Scanner, start: number, end: number, value: string): void {
  const range = { start, end };
  const newText = JSON.stringify(value);
  scanner.report({
    range,
    message: `JSON strings stand between straight double quotes, not as ${quoteText(scanner.text, range)}.`,
    suggestion: `Write ${newText.length > 60 ? 'straight double quotes' : newText}.`,
    fix: { range, newText },
  });
}

/** Whether nothing but space and at most one comma stands between two offsets. */
function outside(text: string, from: number, to: number): boolean {
  let commas = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === comma) commas++;
    else if (code !== 32 && code !== 9 && code !== 13) return false;
  }
  return commas <= 1;
}

/** Ends a string at the end of its line, before the comma or brackets that most likely belong behind it. */
function endUnclosed(scanner: Scanner, start: number, from: number, lineEnd: number, parts: string[]): string {
  const { text } = scanner;
  let end = lineEnd;
  while (end > from && ' \t\r\n,]}'.includes(text[end - 1] as string)) end--;
  scanner.at = scanner.lastEnd = end;
  const range = { start, end };
  // Where nothing but a comma was taken for the outside of the string, the closing quote can go nowhere else.
  const certain = end > from && outside(text, end, lineEnd) && text[start] === '"' && lineEnd < text.length;
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
