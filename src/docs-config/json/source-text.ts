import type { TextRange } from './syntax-tree.ts';

/** The characters that structure JSON. */
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const comma = 0x2c;
export const colon = 0x3a;

/** The offset of the line break that ends the line, or `limit` when that comes first. */
export function endOfLine(text: string, at: number, limit = text.length): number {
  for (let end = at; end < limit; end++) {
    const code = text.charCodeAt(end);
    if (code === 10 || code === 13) return end;
  }
  return limit;
}

/** Quotes a range of the text for a message: in backticks, on one line, at most 40 characters. */
export function quoteText(text: string, { start, end }: TextRange): string {
  const cut = text
    .slice(start, Math.min(end, start + 200))
    .replace(/\s+/g, ' ')
    .trim();
  const short = cut.length > 40 || end > start + 200 ? `${cut.slice(0, 39).toWellFormed()}…` : cut;
  return `\`${short}\``;
}

/** A character by its code, as in `U+00A0`. */
export const codePointOf = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;

/** Whether a value can end at an offset: a comma, a closing bracket, a comment or the end of the line follows. */
export function valueCanEnd(text: string, at: number): boolean {
  return /^[ \t]{0,20}(?:[,;，\]}\r\n]|$|[ \t]#|[ \t]\/[/*]|[ \t]<!--)/.test(text.slice(at, at + 25));
}

/** Whether a key can end at an offset: a colon, or an equals sign in its place, follows. */
export function keyCanEnd(text: string, at: number): boolean {
  return /^\s{0,20}[:=：]/.test(text.slice(at, at + 21));
}

/** Whether a string ends here, with whatever quote. */
export function endsInQuote(text: string, at: number): boolean {
  return /["'`“”‘’＂]/.test(text[at - 1] ?? '');
}

/** How many characters of a string are read to find out whether its quotes are pairs. */
const maxPairedLength = 1_000;

/** Whether a string, whose closing quote is at `end`, has an odd number of escaped quotes, or ends with a backslash. */
export function mayContinue(text: string, end: number): boolean {
  const content =
    text
      .slice(Math.max(0, end - maxPairedLength), end)
      .split(/(?<!\\)"/)
      .at(-1) ?? '';
  return content.endsWith('\\') || content.split('\\"').length % 2 === 0;
}

/** Whether there is no line break between two offsets. */
export function onSameLine(text: string, from: number, to: number): boolean {
  return endOfLine(text, from, to) === to;
}

/** Whether what other languages have as a comment begins here. */
export function startsComment(text: string, at: number): boolean {
  return text[at] === '#' || text.startsWith('//', at) || text.startsWith('/*', at) || text.startsWith('<!--', at);
}

const markedText = /(?:#|\/\/(?!\/))[^\s#"'`“”„＂‘’{}[\],:*=-]/y;

/** Whether text follows `#` or `//` at once, so that it may be a value, not a comment. */
export function startsMarkedText(text: string, at: number): boolean {
  markedText.lastIndex = at;
  return markedText.test(text);
}

/** Whether a character is a space or invisible, but not whitespace in JSON. */
export function isOtherSpace(code: number): boolean {
  return (
    (code < 32 && code !== 9 && code !== 10 && code !== 13) ||
    code === 0x7f ||
    code === 0xa0 ||
    code === 0xfeff ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200d)
  );
}

/** A position in the text. */
export interface Position {
  /** From 1. A line ends at \n, \r\n or a lone \r, as in editors. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  /** From 0, in UTF-16 code units. */
  readonly offset: number;
}

/** A range of the text; `end` is exclusive. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** Converts offsets to lines and columns. */
export interface Positions {
  readonly at: (offset: number) => Position;
  readonly range: (range: TextRange) => Range;
}

/** Creates the converter for a text. The line table is built on first use, in linear time; each look-up is logarithmic. */
export function createPositions(text: string): Positions {
  let starts: Uint32Array | undefined;
  const at = (offset: number): Position => {
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1, offset };
  };
  return { at, range: ({ start, end }) => ({ start: at(start), end: at(end) }) };
}

/** The offset of the start of each line. */
export function findLineStarts(text: string): Uint32Array {
  let count = 1;
  for (let at = 0; at < text.length; at++) if (endsLine(text, at)) count++;
  const starts = new Uint32Array(count);
  for (let at = 0, line = 1; line < count; at++) if (endsLine(text, at)) starts[line++] = at + 1;
  return starts;
}

function endsLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10);
}
