import type { Diagnostic, Fix } from './diagnostic.ts';
import { createPositions, type Positions, type Range } from './json/positions.ts';
import type { Code } from './rules/registry.ts';
import { inspect, type ValidateOptions } from './validate.ts';

/** One fix can reveal the next problem: first a quote, then the comma after it. Real files need two rounds. */
const maxRounds = 20;

/** An edit that was applied. */
export interface AppliedFix {
  /** The code of the diagnostic that it fixes. */
  readonly code: Code;
  /** The message of the diagnostic. */
  readonly message: string;
  /** What was replaced, in the original text; for an edit inside the text of an earlier edit, the range of the earlier one. */
  readonly range: Range;
}

/**
 * Applies the fixes of all errors, so a valid text does not change. Idempotent.
 *
 * @returns the new text, and the edits in the order of their positions.
 */
export function applyFixes(source: string, options: ValidateOptions = {}): { text: string; fixes: AppliedFix[] } {
  const positions = createPositions(source);
  const rounds: Edit[][] = [];
  const fixes: AppliedFix[] = [];
  let text = source;
  while (rounds.length < maxRounds) {
    const found = selectSeparate(inspect(text, options, { limit: Number.POSITIVE_INFINITY, fixable: true }).diagnostics);
    if (found.length === 0) break;
    for (const { code, message, fix } of found) fixes.push({ code, message, range: mapToOriginal(rounds, fix, positions) });
    rounds.push(toEdits(found));
    text = replaceAll(text, found);
  }
  fixes.sort((a, b) => a.range.start.offset - b.range.start.offset);
  return { text, fixes };
}

type Fixable = Diagnostic & { readonly fix: Fix };

/** The diagnostics whose fixes do not overlap or touch. The others are left to the next round. */
function selectSeparate(diagnostics: readonly Diagnostic[]): Fixable[] {
  const fixable = diagnostics.filter((diagnostic): diagnostic is Fixable => diagnostic.fix !== null);
  fixable.sort((a, b) => a.fix.range.start.offset - b.fix.range.start.offset || a.fix.range.end.offset - b.fix.range.end.offset);
  let end = -1;
  return fixable.filter(({ fix: { range } }) => {
    if (range.start.offset <= end) return false;
    end = range.end.offset;
    return true;
  });
}

function replaceAll(text: string, fixes: readonly Fixable[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { fix } of fixes) {
    parts.push(text.slice(from, fix.range.start.offset), fix.newText);
    from = fix.range.end.offset;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** The range of an edit in the text before its round, and in the text after it. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

function toEdits(fixes: readonly Fixable[]): Edit[] {
  let shift = 0;
  return fixes.map(({ fix: { range, newText } }) => {
    const [start, end] = [range.start.offset, range.end.offset];
    const newStart = start + shift;
    const newEnd = newStart + newText.length;
    shift = newEnd - end;
    return { start, end, newStart, newEnd };
  });
}

/** Maps the range of a fix to the original text. */
function mapToOriginal(rounds: readonly Edit[][], { range }: Fix, positions: Positions): Range {
  const start = rounds.reduceRight((offset, edits) => mapToPrevious(edits, offset, 'start'), range.start.offset);
  const end = rounds.reduceRight((offset, edits) => mapToPrevious(edits, offset, 'end'), range.end.offset);
  return positions.range({ start, end: Math.max(start, end) });
}

/** Maps an offset to the text before a round; inside inserted text, to the start or end of what it replaced. */
function mapToPrevious(edits: readonly Edit[], offset: number, side: 'start' | 'end'): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as Edit).newStart <= offset) low = middle + 1;
    else high = middle;
  }
  const last = edits[low - 1];
  if (!last) return offset;
  return offset < last.newEnd ? last[side] : offset - last.newEnd + last.end;
}
