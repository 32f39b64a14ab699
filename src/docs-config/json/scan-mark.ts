import type { Scanner } from './parser-state.ts';
import { opensString } from './scan-string.ts';
import { endOfBareText, endOfWord } from './scan-word.ts';
import { endOfLine, keyCanEnd, startsComment, startsMarkedText, valueCanEnd } from './source-text.ts';
import type { ArrayNode, JsonNode, Member, ObjectNode, TextRange } from './syntax-tree.ts';

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

/** Whether an object may have the key that follows already, so that `}, {` is missing. Not searched when it is large. */
export function repeatsKey({ text, at }: Place, node: ArrayNode | ObjectNode): boolean {
  if (node.kind === 'array') return false;
  const start = opensString(text.charCodeAt(at)) ? at + 1 : at;
  const isHere = ({ key }: Member) => text.startsWith(key, start) && !/[\w$-]/.test(text[start + key.length] ?? '');
  return node.members.length > 100 || node.members.some(isHere);
}

const color = /#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})(?![^\s,;}\]])/y;

/**
 * Where a value belongs, `#` or `//` that text follows at once may begin a comment, or a value without quotes: `#fff`,
 * `//cdn.acme.com`. Skips and reports the line when it reads like a comment; otherwise false, and the value is to be scanned.
 */
export function skipUnclearMark(scanner: Scanner, isMember: boolean): boolean {
  const { text, at } = scanner;
  if (!startsMarkedText(text, at)) return false;
  const end = endOfBareText(text, at);
  if (isHalfQuoted(text, at, end) || valueEnds(text, end, isMember)) return false;
  scanner.at = endOfLine(text, at);
  reportMark(scanner, at);
  return true;
}

/** Scans and reports text like `//cdn.acme.com`, where a value belongs; undefined when something else begins here. */
export function scanUnclearText(scanner: Scanner, isMember: boolean): JsonNode | undefined {
  const { text, at: start } = scanner;
  if (!startsMarkedText(text, start) || (isMember && startsColor(text, start))) return undefined;
  const end = endOfBareText(text, start);
  if (isHalfQuoted(text, start, end)) return undefined;
  scanner.at = scanner.lastEnd = end;
  reportMark(scanner, start);
  return { kind: 'error', start, end };
}

/** Reports what the scanner has just taken. */
function reportMark(scanner: Scanner, start: number): void {
  scanner.report({
    range: { start, end: scanner.at },
    message: 'This may be a comment, which JSON does not have, or a value without quotes.',
    suggestion: 'Remove it, or put the value in double quotes.',
    unclear: true,
  });
}

/** `#0d9373"`: only the opening quote is missing. */
function isHalfQuoted(text: string, start: number, end: number): boolean {
  return text[end] === '"' && valueCanEnd(text, end + 1) && !/\s/.test(text.slice(start, end));
}

/** Whether a comma, a bracket or, in an object, the next key follows. */
function valueEnds(text: string, end: number, isMember: boolean): boolean {
  const next = skipSpace(text, end);
  if (next >= text.length || ',;，]}'.includes(text[next] as string)) return true;
  return isMember && keyFollows({ text, at: next });
}

/** Whether a color without quotes begins here, and not a comment: a key or a bracket follows, also after a comma; no value. */
function startsColor(text: string, at: number): boolean {
  color.lastIndex = at;
  if (!color.test(text)) return false;
  const next = skipSpace(text, color.lastIndex);
  const isComma = ',;'.includes(text[next] ?? ' ');
  const after = isComma ? skipSpace(text, next + 1) : next;
  if (after >= text.length || ']}'.includes(text[after] as string)) return true;
  if (isComma && startsComment(text, after)) return !startsMarkedText(text, after);
  if (opensString(text.charCodeAt(after))) return keyFollows({ text, at: after });
  return isComma && keyCanEnd(text, endOfWord(text, after));
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
  return at;
}
