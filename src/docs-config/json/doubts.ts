import type { Edit, Scanner, SyntaxProblem } from './parser-state.ts';
import { createPositions } from './positions.ts';

/**
 * Lines where a problem has no fix, where quotes may have another meaning, or where two lack or are one too many: the mistake may
 * not be where it shows.
 */
export function createDoubts(text: string) {
  const positions = createPositions(text);
  const lineOf = (offset: number) => positions.at(offset).line;
  const lines = new Set<number>();
  const withQuote = new Set<number>();
  let problems = 0;
  return {
    add: (offset: number): void => void lines.add(lineOf(offset)),
    addProblem({ range, fix }: SyntaxProblem): void {
      problems++;
      if (!fix) lines.add(lineOf(range.start)).add(lineOf(range.end));
      else if (changesQuote(text, fix)) {
        const line = lineOf(fix.range.end);
        (withQuote.has(line) ? lines : withQuote).add(line);
      }
    },
    hasProblems: () => problems > 0,
    /** Whether a fix changes none of these lines. */
    isCertain({ fix }: SyntaxProblem): boolean {
      if (!fix || lines.size === 0) return true;
      const end = lineOf(fix.range.end);
      for (let line = lineOf(fix.range.start); line <= end; line++) if (lines.has(line)) return false;
      return true;
    },
  };
}

/** Whether a fix adds or removes one double quote, or changes text that has one. */
function changesQuote(text: string, { range: { start, end }, newText }: Edit): boolean {
  const old = text.slice(start, end);
  return newText === '"' || old === '"' || (newText !== '' && old.includes('"'));
}

/** Notes a doubt about a string like `": "` and `", "`, which there are where a quote before them is missing or one too many. */
export function doubtEnd(scanner: Scanner, value: string): void {
  if (/[,:[{]\s{0,20}$/.test(value.slice(-21))) scanner.doubt(scanner.lastEnd);
}
