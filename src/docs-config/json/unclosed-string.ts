import type { Scanner } from './parser-state.ts';
import { comma, quoteText, valueCanEnd } from './source-text.ts';

/** What begins a line after an unclosed string. */
export const punctuation = '"\'}]{[,<=>';

/**
 * Whether a string ends on a later line, because what closes it first stands where a value can end. `none`: it does not, so it is
 * unclosed; `unknown`: that is too far away, or what lies between is a comment or a part of the string.
 */
export function findEndOnLaterLine(text: string, from: number, closing: string): 'found' | 'none' | 'unknown' {
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
  let commas = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === comma) commas++;
    else if (code !== 32 && code !== 9 && code !== 13) return false;
  }
  return commas <= 1;
}

interface UnclosedString {
  readonly start: number;
  /** Where what is not in the parts yet begins. */
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
export function closeAtLineEnd(
  scanner: Scanner,
  { start, from, lineEnd, next }: UnclosedString,
  parts: string[],
  isUnclosed: boolean,
): string {
  const { text } = scanner;
  let end = lineEnd;
  while (end > from && ' \t\r\n,]}'.includes(text[end - 1] as string)) end--;
  scanner.at = scanner.lastEnd = end;
  const range = { start, end };
  // The closing quote has only one possible position when only a comma that is needed there was taken as outside of the string.
  const certain =
    isUnclosed &&
    text[start] === '"' &&
    end > from &&
    isOutside(text, end, lineEnd) &&
    !(text.slice(end, lineEnd).includes(',') && '}]'.includes(text[next] ?? '}')) &&
    !/\s(?:#|\/[/*])/.test(text.slice(from, end));
  const curly = end > from + 1 && '”“'.includes(text[end - 1] as string);
  scanner.report({
    range,
    message: `The string ${quoteText(text, range)} is not closed.`,
    suggestion: 'Put a double quote at its end.',
    ...(certain ? { fix: { range: { start: curly ? end - 1 : end, end }, newText: '"' } } : { unclear: true }),
  });
  parts.push(text.slice(from, curly ? end - 1 : end));
  return parts.join('');
}
