import type { TextRange } from './syntax-tree.ts';

/** One replacement in the text. */
export interface Edit {
  /** What to replace; an empty range inserts. */
  readonly range: TextRange;
  readonly newText: string;
}

/** A place where the text is not strict JSON. */
export interface SyntaxProblem {
  readonly range: TextRange;
  /** One plain sentence; a function where making it costs more than a glance at the place. */
  readonly message: string | ((line: (offset: number) => number) => string);
  /** What to do, as an instruction. */
  readonly suggestion: string;
  /** An edit that cannot be wrong. Without one the problem is a guess, and the next guess on the same line is kept silent. */
  readonly fix?: Edit;
}

/** A text being read: where, and what was wrong so far. */
export interface Scanner {
  readonly text: string;
  /** The offset of the next character. */
  at: number;
  /** Where the last token ended: where a missing comma belongs. */
  lastEnd: number;
  /** Reports a problem. */
  readonly report: (problem: SyntaxProblem) => void;
  /** Behind text that was skipped, up to the next comma or bracket: what is wrong there follows from it and is kept silent. */
  lost: boolean;
  /** Whether a merge conflict is open, and its second half is to be left out. */
  conflict: { readonly start: number } | undefined;
  /** No closing conflict mark follows, so do not search for one again. */
  conflictsUnended: boolean;
}

/** Starts reading. */
export function scan(text: string, report: (problem: SyntaxProblem) => void): Scanner {
  let guessedUntil = -1;
  const scanner: Scanner = {
    text,
    at: 0,
    lastEnd: 0,
    lost: false,
    conflict: undefined,
    conflictsUnended: false,
    report: (problem) => {
      if (scanner.lost) return;
      if (!problem.fix) {
        if (problem.range.start < guessedUntil) return;
        guessedUntil = endOfLine(text, Math.max(problem.range.start, problem.range.end - 1));
      }
      report(problem);
    },
  };
  return scanner;
}

/** The offset of the line break that ends the line, but no further than `limit`, which by default is the end of the text. */
export function endOfLine(text: string, at: number, limit = text.length): number {
  for (let end = at; end < limit; end++) {
    const code = text.charCodeAt(end);
    if (code === 10 || code === 13) return end;
  }
  return limit;
}

/** A short piece of the text for a message: one line, at most 40 characters, in backticks. */
export function quoteText(text: string, { start, end }: TextRange): string {
  const cut = text
    .slice(start, Math.min(end, start + 200))
    .replace(/\s+/g, ' ')
    .trim();
  const short = cut.length > 40 || end > start + 200 ? `${cut.slice(0, 39).toWellFormed()}…` : cut;
  return `\`${short}\``;
}

/** A report of something that merely has to be removed. */
export function removal(range: TextRange, message: string, suggestion: string): SyntaxProblem {
  return { range, message, suggestion, fix: { range, newText: '' } };
}

/** Whether a value can end at an offset: only a comma, a closing bracket or the line's end follows. */
export function endsThere(text: string, at: number): boolean {
  return /^[ \t]{0,20}(?:[,\]}\r\n]|$)/.test(text.slice(at, at + 21));
}
