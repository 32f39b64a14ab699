import { createRemoval, type Scanner } from './parser-state.ts';
import { endOfLine, onSameLine, startsComment, startsMarkedText } from './source-text.ts';

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
  const unclear = isUnclearComment(scanner, start, expected);
  let end = start;
  let closed = true;
  for (let at = start; ; ) {
    if (text[at] === '#' || text.startsWith('//', at)) end = endOfLine(text, at);
    else if (text.startsWith('/*', at) || text.startsWith('<!--', at)) {
      const closing = text[at] === '/' ? '*/' : '-->';
      const close = text.indexOf(closing, at + 2);
      closed = close !== -1;
      end = closed ? close + closing.length : text.length;
    } else break;
    at = end;
    while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
    if (unclear || (expected === 'value' && startsMarkedText(text, at)) || isUnclearComment(scanner, at, expected)) break;
  }
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

/** `"a" #b, "c"]`: behind a value or comma on its line, a comment that text follows at once, and punctuation. */
function isUnclearComment({ text, lastEnd }: Scanner, at: number, expected: Expected): boolean {
  if (expected !== 'other' || !startsMarkedText(text, at) || !onSameLine(text, lastEnd, at)) return false;
  return /[,}\]]/.test(text.slice(at, endOfLine(text, at)));
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

/** Skips a conflict marker: the first side of a conflict is parsed, the second is skipped. */
function skipConflictMark(scanner: Scanner): void {
  const { text } = scanner;
  const start = scanner.at;
  const end = endOfLine(text, start);
  scanner.at = end;
  if (text[start] === '<') {
    scanner.conflict = { start };
    scanner.report({
      range: { start, end },
      message: 'A merge conflict is not resolved here.',
      suggestion: 'Keep one side and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.',
    });
    return;
  }
  if (!scanner.conflict) {
    const message = 'A mark of a merge conflict was left behind.';
    scanner.report({
      ...createRemoval({ start, end }, message, 'Remove this line.'),
      fix: { range: expandToWholeLines(text, start, end), newText: '' },
    });
    return;
  }
  if (text[start] === '>') scanner.conflict = undefined;
  else if (!scanner.conflictsUnended) skipSecondSide(scanner, end);
}

function skipSecondSide(scanner: Scanner, from: number): void {
  const mark = scanner.text.indexOf('\n>>>>>>>', from);
  scanner.conflictsUnended = mark === -1;
  if (mark === -1) return;
  scanner.at = endOfLine(scanner.text, mark + 1);
  scanner.conflict = undefined;
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

function skipOtherSpaces(scanner: Scanner): void {
  const start = scanner.at;
  while (isOtherSpace(scanner.text.charCodeAt(scanner.at))) scanner.at++;
  const range = { start, end: scanner.at };
  if (start === 0 && scanner.text.charCodeAt(0) === 0xfeff) {
    const message = 'The file begins with a byte order mark, which JSON does not allow.';
    scanner.report(createRemoval(range, message, 'Save it as UTF-8 without a byte order mark.'));
    return;
  }
  const code = scanner.text.charCodeAt(start).toString(16).toUpperCase().padStart(4, '0');
  const message = `The invisible character U+${code} is not whitespace in JSON.`;
  scanner.report({ range, message, suggestion: 'Replace it with a space.', fix: { range, newText: ' ' } });
}
