import type { TextRange } from './positions.ts';
import { quoteText } from './words.ts';

/** What is wrong, in a sentence with what to do. */
interface Described {
  readonly range: TextRange;
  readonly message: string;
}

/** What a text has to have where it stops being JSON, or what is wrong with the token there. */
export type Reason =
  | ('value' | 'key' | 'colon' | 'comma' | 'end')
  | ('comment' | 'symbol' | 'open-string' | 'number' | 'unicode' | 'escape' | 'control');

/** What people write where JSON has another mark. */
const instead: Readonly<Record<string, string>> = { ';': ',', '=': ':' };

/**
 * Describes the first syntax error of a text. The reader stops at a token; people look for where something is to change.
 *
 * @param token where the reader stopped.
 * @param closers the brackets that would close what is open, the innermost last.
 */
export function describeSyntaxError(text: string, reason: Reason, token: TextRange, closers: readonly string[]): Described {
  const written = text.slice(token.start, token.end);
  const shown = quoteText(written);
  const at = (message: string, range = token): Described => ({ range, message });
  const end = text.trimEnd().length;
  if (end === 0) return at('The file is empty. Write an object with at least "name" and "navigation".', { start: 0, end: 0 });
  if (token.start >= end || (reason === 'open-string' && token.end >= end)) {
    return at(describeEnd(closers, token.start < end), { start: end - 1, end });
  }
  if (/^(?:<{7}|\|{7}|={7}|>{7})(?:\s|$)/.test(text.slice(token.start, token.start + 8))) {
    const message =
      'The file has a merge conflict. Keep one of the two versions, and remove the lines <<<<<<<, ======= and >>>>>>>.';
    return at(message);
  }
  const before = lastBefore(text, token.start);
  const isComment = reason === 'comment' || (/^(?:#|<!--)/.test(written) && text[before] !== ':');
  if (isComment) return at('JSON has no comments. Remove this one.');
  if (reason === 'end') {
    return at(`The document ends before ${shown}. Remove what follows it, or the closing bracket too many before it.`);
  }
  if (written === '}' || written === ']') return describeCloser(text, written, before, token, closers);
  if (written === ',') {
    if (text[before] === ':') return at('This key has no value. Write one before the comma.', { start: before, end: token.end });
    if (reason === 'colon') return at('This key has no value. Put a colon and a value before the comma.');
    return at(text[before] === ',' ? 'Remove one of the two commas.' : 'Remove this comma: there is nothing before it.');
  }
  if (written === ':')
    return at('A colon follows only a key of an object. Put { before the key, or a comma in place of the colon.');
  if (reason === 'comma') return at(`Put a comma before ${shown}.`);
  if (reason === 'colon') return at(`Put a colon before ${shown}.`);
  if (reason === 'key' && written === '{' && text[before] === ',') {
    return at('The object before is not closed. Put } before the comma.');
  }
  if (reason === 'key') return at(`A key must stand here. Write it in double quotes, in place of ${shown}.`);
  return at(describeToken(text, reason, written, token, before));
}

function describeEnd(closers: readonly string[], isInString: boolean): string {
  const count = closers.length;
  const place = isInString ? 'inside a string' : 'too early';
  if (count === 0) return `The file ends ${place}. Complete it.`;
  const brackets = closers.slice(-20).reverse().join('');
  return `The file ends ${place}: ${count} ${count === 1 ? 'bracket is' : 'brackets are'} open. Complete it, and close ${count === 1 ? 'it' : 'them'} with ${brackets}${count > 20 ? '…' : ''}.`;
}

/** A closing bracket that does not fit: something is missing before it, or it closes something else. */
function describeCloser(text: string, written: string, before: number, token: TextRange, closers: readonly string[]): Described {
  const closer = closers.at(-1);
  if (text[before] === ',') {
    return { range: { start: before, end: before + 1 }, message: `Remove this comma: nothing follows it before \`${written}\`.` };
  }
  if (text[before] === ':') return { range: token, message: `The key has no value. Write one before \`${written}\`.` };
  if (closer === written)
    return { range: token, message: `The key has no value. Put a colon and a value before \`${written}\`.` };
  if (closer === undefined) return { range: token, message: `Nothing is open. Remove \`${written}\`.` };
  const what = closer === ']' ? 'list' : 'object';
  const message = closers.includes(written)
    ? `Close the ${what} with ${closer} before \`${written}\`.`
    : `Close the ${what} with ${closer}, not with \`${written}\`.`;
  return { range: token, message };
}

function describeToken(text: string, reason: Reason, written: string, { start, end }: TextRange, before: number): string {
  const shown = quoteText(written);
  const first = written.codePointAt(0) ?? 0;
  if (reason === 'open-string') return `The string ${shown} is not closed. Put a quote at its end, on the same line.`;
  if (reason === 'escape') return `The string ${shown} has an escape that JSON does not have. Write \\\\ for a backslash.`;
  if (reason === 'unicode') return `The string ${shown} has \\u without four hexadecimal digits. Complete them.`;
  if (reason === 'control') return `The string ${shown} has a control character. Write \\t for a tab, or another escape.`;
  if (written.startsWith('\ufeff') && start === 0) return 'The file begins with a byte order mark. Save it as UTF-8 without one.';
  if (/^[\s\p{C}]/u.test(written))
    return `The character U+${first.toString(16).toUpperCase().padStart(4, '0')} is invisible, and not JSON. Replace it with a space.`;
  if (/^["'`\u2018-\u201f＂]/.test(written))
    return `Write " in place of ${quoteText(String.fromCodePoint(first))} around keys and strings.`;
  if (Object.hasOwn(instead, written)) return `Write ${instead[written]} in place of ${shown}.`;
  if (/^[-+.\d]/.test(written) || (before === start - 1 && /\d/.test(text[before] ?? ''))) {
    return `The number at ${shown} is not written as in JSON. Correct it, or put it in double quotes.`;
  }
  if (text[end] === '"' && text[before] !== '"') return `Put a quote before ${shown}.`;
  if (text[before] === '"') return `A comma or a quote is misplaced before ${shown}. Write \\" for a quote inside of a string.`;
  return `Put ${shown} in double quotes.`;
}

/** The offset of the last character before an offset that is not white space; -1 if there is none. */
function lastBefore(text: string, offset: number): number {
  let at = offset - 1;
  while (at >= 0 && /\s/.test(text[at] as string)) at--;
  return at;
}
