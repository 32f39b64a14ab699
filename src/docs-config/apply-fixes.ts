import type { Finding, Fix } from './diagnostics.ts';
import { createPositions, type Positions, type Range } from './json/positions.ts';
import type { Code } from './rules/registry.ts';
import { inspect, type ValidateOptions } from './validate.ts';

/** One correction can bring the next to light: a quote first, then the comma behind it. Real files need two rounds. */
const maxRounds = 20;

/** An edit that was applied. */
export interface AppliedFix {
  /** The rule whose finding it corrects. */
  readonly code: Code;
  /** What was wrong: the message of the finding. */
  readonly message: string;
  /** What was replaced, in the text as it was given; of an edit inside another one, the place of that one. */
  readonly range: Range;
}

/**
 * Applies every edit that is certainly what was meant, of errors only, so that a valid text stays as it is. Applied to its own
 * result it changes nothing.
 *
 * @returns the text, and the edits in the order of their places.
 */
export function applyFixes(source: string, options: ValidateOptions = {}): { text: string; fixes: AppliedFix[] } {
  const positions = createPositions(source);
  const rounds: Edit[][] = [];
  const fixes: AppliedFix[] = [];
  let text = source;
  while (rounds.length < maxRounds) {
    const found = apart(inspect(text, options, { limit: Number.POSITIVE_INFINITY, fixable: true }).diagnostics);
    if (found.length === 0) break;
    for (const { code, message, fix } of found) fixes.push({ code, message, range: rangeBefore(rounds, fix, positions) });
    rounds.push(editsOf(found));
    text = edit(text, found);
  }
  fixes.sort((a, b) => a.range.start.offset - b.range.start.offset);
  return { text, fixes };
}

type Fixable = Finding & { readonly fix: Fix };

/** The findings whose edits touch nothing that another one touches; the rest comes in the next round. */
function apart(findings: readonly Finding[]): Fixable[] {
  const fixable = findings.filter((finding): finding is Fixable => finding.fix !== null);
  fixable.sort((a, b) => a.fix.range.start.offset - b.fix.range.start.offset || a.fix.range.end.offset - b.fix.range.end.offset);
  let end = -1;
  return fixable.filter(({ fix: { range } }) => {
    if (range.start.offset <= end) return false;
    end = range.end.offset;
    return true;
  });
}

function edit(text: string, fixes: readonly Fixable[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { fix } of fixes) {
    parts.push(text.slice(from, fix.range.start.offset), fix.newText);
    from = fix.range.end.offset;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** An edit, by where it stands in the text before and in the text after its round. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

function editsOf(fixes: readonly Fixable[]): Edit[] {
  let shift = 0;
  return fixes.map(({ fix: { range, newText } }) => {
    const [start, end] = [range.start.offset, range.end.offset];
    const newStart = start + shift;
    const newEnd = newStart + newText.length;
    shift = newEnd - end;
    return { start, end, newStart, newEnd };
  });
}

/** Where an edit stands in the text as it was before every round. */
function rangeBefore(rounds: readonly Edit[][], { range }: Fix, positions: Positions): Range {
  const start = rounds.reduceRight((offset, edits) => offsetBefore(edits, offset, 'start'), range.start.offset);
  const end = rounds.reduceRight((offset, edits) => offsetBefore(edits, offset, 'end'), range.end.offset);
  return positions.range({ start, end: Math.max(start, end) });
}

/** Where a place stood before a round; inside what the round put there, the start or the end of what it replaced. */
function offsetBefore(edits: readonly Edit[], offset: number, side: 'start' | 'end'): number {
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
