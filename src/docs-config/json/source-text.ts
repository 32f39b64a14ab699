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
