import { createRemoval, type Scanner } from './parser-state.ts';
import { endOfWord } from './scan-word.ts';
import {
  codePointOf,
  endOfLine,
  endsInQuote,
  isOtherSpace,
  keyCanEnd,
  onSameLine,
  startsComment,
  startsMarkedText,
  valueCanEnd,
} from './source-text.ts';
import type { TextRange } from './syntax-tree.ts';

const conflictMark = /^(?:<{7}(?: |$)|={7}$|>{7}(?: |$)|\|{7}(?: |$))/;

/** What is expected at a place: nothing but comments outside of the document, a value, or a key, comma or bracket. */
export type Expected = 'nothing' | 'value' | 'other';

/**
 * Moves to the next significant character: skips whitespace, and skips and reports comments, conflict markers and other spaces,
 * which JSON does not have. Stops at what may be a comment or a value, where one is expected.
 */
export function skipTrivia(scanner: Scanner, expected: Expected): void {
  const { text } = scanner;
  for (;;) {
    const code = text.charCodeAt(scanner.at);
    if (code === 32 || code === 10 || code === 13 || code === 9) scanner.at++;
    else if ((code === 35 || code === 47 || code === 60) && startsComment(text, scanner.at)) {
      if (expected === 'value' && startsMarkedText(text, scanner.at)) return;
      skipComments(scanner, expected);
    } else if ((code === 60 || code === 61 || code === 62 || code === 124) && isConflictMark(scanner)) skipConflictMark(scanner);
    else if (code < 32 || (code >= 0x7f && isOtherSpace(code))) skipOtherSpaces(scanner);
    else return;
  }
}

/** Skips a comment and reports it as one with those that follow after whitespace. */
function skipComments(scanner: Scanner, expected: Expected): void {
  const { text } = scanner;
  const start = scanner.at;
  let { end, closed } = endOfComment(text, start);
  let unclear = closed && isUnclearComment(scanner, { start, end }, expected);
  while (closed && !unclear) {
    let at = end;
    while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
    if (!startsComment(text, at) || (expected === 'value' && startsMarkedText(text, at))) break;
    const next = endOfComment(text, at);
    if (next.closed && isUnclearComment(scanner, { start: at, end: next.end }, expected)) break;
    ({ end, closed } = next);
  }
  unclear ||= closed && !isBalanced(text.slice(start, end));
  scanner.at = end;
  const range = { start, end };
  if (unclear) {
    const message = 'This may be a comment, which JSON does not have, but what follows in its line may belong to the document.';
    scanner.report({ range, message, suggestion: 'Remove what is a comment.', unclear: true });
  } else if (closed) {
    scanner.report({
      ...createRemoval(range, 'JSON has no comments.', 'Remove this comment.'),
      fix: { range: expandToWholeLines(text, start, end), newText: '' },
    });
  } else {
    scanner.report({ range, message: 'This comment is never closed, and JSON has no comments.', suggestion: 'Remove it.' });
  }
}

/** The end of the comment that begins here, and whether it has one: the end of the text otherwise. */
function endOfComment(text: string, at: number): { end: number; closed: boolean } {
  const closing = text[at] === '<' ? '-->' : text[at + 1] === '*' ? '*/' : undefined;
  if (text[at] === '#' || !closing) return { end: endOfLine(text, at), closed: true };
  const close = text.indexOf(closing, at + 2);
  return close === -1 ? { end: text.length, closed: false } : { end: close + closing.length, closed: true };
}

/**
 * Whether it may be text that lacks a quote: `"a"" "#b"`, `#a": 1`, `[/*a*\/b"]`, the rest of a string that a quote without its
 * backslash ended: `"a" // b\"", "c": "d"`, the value of the key on its line: `"a":// "b"`, or, behind a value or comma on its
 * line, text that follows the mark at once, and punctuation: `"a" #b, "c"]`.
 */
function isUnclearComment({ text, lastEnd }: Scanner, { start, end }: TextRange, expected: Expected): boolean {
  const comment = text.slice(start, end);
  if (/(?:[:=：]|=>)[ \t]{0,20}$/.test(text.slice(Math.max(0, start - 22), start))) return true;
  if (endsInQuote(text, start) || hasOddQuotes(comment) || hasOddQuotes(comment.replace(/\\./g, ''))) return true;
  if (isHalfQuoted(text, end)) return true;
  const ownsLines = expandToWholeLines(text, start, end).end > end;
  if (text[start + 1] === '*' && comment.includes('"') && !ownsLines) return true;
  if (expected !== 'other' || !startsMarkedText(text, start) || !onSameLine(text, lastEnd, start)) return false;
  return /[,}\]]/.test(comment);
}

/** Whether as many brackets open as close: otherwise it may be a part of the document. */
function isBalanced(text: string): boolean {
  let open = 0;
  for (const character of text) {
    if (character === '{' || character === '[') open++;
    else if (character === '}' || character === ']') open--;
  }
  return open === 0;
}

const hasOddQuotes = (text: string): boolean => text.split('"').length % 2 === 0;

/** Whether the word that follows on the line has a closing quote but no opening one. */
function isHalfQuoted(text: string, from: number): boolean {
  let start = from;
  while (text[start] === ' ' || text[start] === '\t') start++;
  const end = startsComment(text, start) ? start : endOfWord(text, start);
  return text[end] === '"' && (valueCanEnd(text, end + 1) || keyCanEnd(text, end + 1));
}

/** Expands a range to whole lines when nothing else is on them, so that removing it leaves no empty lines. */
function expandToWholeLines(text: string, start: number, end: number) {
  let first = start;
  while (first > 0 && first > start - 200 && (text[first - 1] === ' ' || text[first - 1] === '\t')) first--;
  const ownsLines = (first === 0 || text[first - 1] === '\n') && (text[end] === '\n' || text.startsWith('\r\n', end));
  return ownsLines ? { start: first, end: end + (text[end] === '\n' ? 1 : 2) } : { start, end };
}

function isConflictMark({ text, at }: Scanner): boolean {
  const startsLine = at === 0 || text[at - 1] === '\n';
  return startsLine && conflictMark.test(text.slice(at, endOfLine(text, at, Math.min(text.length, at + 8))));
}

/** Skips a conflict marker: the first side of a conflict is parsed, the second is skipped. No side is certain to be kept. */
function skipConflictMark(scanner: Scanner): void {
  const { text } = scanner;
  const start = scanner.at;
  const end = endOfLine(text, start);
  scanner.at = end;
  const isFirst = text[start] === '<';
  if (isFirst || !scanner.inConflict) {
    scanner.report({
      range: { start, end },
      message: isFirst ? 'A merge conflict is not resolved here.' : 'A mark of a merge conflict was left behind.',
      suggestion: 'Keep one side and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.',
      unclear: true,
    });
    scanner.inConflict = isFirst;
  } else if (text[start] === '>') scanner.inConflict = false;
  else if (!scanner.conflictsUnended) skipSecondSide(scanner, end);
}

function skipSecondSide(scanner: Scanner, from: number): void {
  const mark = scanner.text.indexOf('\n>>>>>>>', from);
  scanner.conflictsUnended = mark === -1;
  if (mark === -1) return;
  scanner.at = endOfLine(scanner.text, mark + 1);
  scanner.inConflict = false;
}

function skipOtherSpaces(scanner: Scanner): void {
  const start = scanner.at;
  while (isOtherSpace(scanner.text.charCodeAt(scanner.at))) scanner.at++;
  const range = { start, end: scanner.at };
  if (start === 0 && scanner.text.charCodeAt(0) === 0xfeff) {
    const message = 'The file begins with a byte order mark, which JSON does not allow.';
    scanner.report(createRemoval(range, message, 'Save it as UTF-8 without a byte order mark.'));
    return;
  }
  const message = `The invisible character ${codePointOf(scanner.text.charCodeAt(start))} is not whitespace in JSON.`;
  scanner.report({ range, message, suggestion: 'Replace it with a space.', fix: { range, newText: ' ' } });
}
