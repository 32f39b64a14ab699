import type { Scanner } from './parser-state.ts';
import { opensString } from './scan-string.ts';
import { endOfWord } from './scan-word.ts';
import { endOfLine } from './source-text.ts';
import type { TextRange } from './syntax-tree.ts';

type Place = Pick<Scanner, 'text' | 'at'>;

/** The range of the next token, for a message. */
export function peekToken(scanner: Place): TextRange {
  const { text } = scanner;
  const start = scanner.at;
  const code = text.charCodeAt(start);
  if (!opensString(code)) return { start, end: Math.max(start + 1, endOfWord(text, start)) };
  const line = text.slice(start, endOfLine(text, start, Math.min(text.length, start + 200)));
  const close = line.indexOf(line[0] as string, 1);
  return { start, end: close === -1 ? start + line.trimEnd().length : start + close + 1 };
}

/** Whether a key follows: a string and a colon. */
export function keyFollows(scanner: Place): boolean {
  const { end } = peekToken(scanner);
  return /^\s{0,20}:/.test(scanner.text.slice(end, end + 21));
}

/** Whether what follows is an unquoted key with its colon. */
export function bareKeyFollows({ text, at }: Place): boolean {
  const end = endOfWord(text, at);
  return end > at && /^"?\s{0,20}[:=：]/.test(text.slice(end, end + 21));
}
