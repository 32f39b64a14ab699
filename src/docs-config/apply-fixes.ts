import type { AddDiagnostic } from './collect-diagnostics.ts';
import { parseJson, TooManyStepsError } from './json/parse-json.ts';
import type { Edit } from './json/parser-state.ts';
import { createPositions, type Positions, type Range } from './json/source-text.ts';
import type { Code } from './rules/registry.ts';
import { inspect, type ValidateOptions } from './validate.ts';

/** One fix can reveal the next problem: first a quote, then the comma after it. Real files need two rounds. */
const maxRounds = 20;

/** The maximum number of fixes that are listed. */
const maxListed = 1000;

/** An edit that was applied. */
export interface AppliedFix {
  /** The code of the diagnostic that it fixes. */
  readonly code: Code;
  /** The message of the diagnostic. */
  readonly message: string;
  /** What was replaced, in the original text; for an edit inside the text of an earlier edit, the range of the earlier one. */
  readonly range: Range;
}

/** A text after its fixes. */
export interface FixedText {
  readonly text: string;
  /** The edits in the order of their positions; at most the first 1,000. */
  readonly fixes: readonly AppliedFix[];
  /** The number of all edits. */
  readonly fixCount: number;
}

/**
 * Applies the fixes of all errors, so a valid text does not change, and none to a text that would not begin with an object then:
 * in a README, headings look like comments. Idempotent.
 *
 * @param maxSteps bounds the memory: the most values and marks that a text may have, and four times the most edits at once.
 * @throws TooManyStepsError
 */
export function applyFixes(source: string, options: ValidateOptions = {}, maxSteps = Number.POSITIVE_INFINITY): FixedText {
  const positions = createPositions(source);
  const rounds: AppliedEdit[][] = [];
  const fixes: AppliedFix[] = [];
  let fixCount = 0;
  let text = source;
  while (rounds.length < maxRounds) {
    const found = selectSeparate(findFixes(text, options, maxSteps));
    if (found.length === 0) break;
    fixCount += found.length;
    // The others come after these in the original text, and so does every later edit whose position depends on them.
    const first = found.slice(0, maxListed);
    for (const { code, message, edit } of first) fixes.push({ code, message, range: mapToOriginal(rounds, edit, positions) });
    rounds.push(toAppliedEdits(first));
    text = replaceAll(text, found);
  }
  if (!beginsWithObject(text, maxSteps)) return { text: source, fixes: [], fixCount: 0 };
  fixes.sort((a, b) => a.range.start.offset - b.range.start.offset);
  return { text, fixes: fixes.slice(0, maxListed), fixCount };
}

function beginsWithObject(text: string, maxSteps: number): boolean {
  const { root } = parseJson(text, () => {}, maxSteps);
  return root?.kind === 'object' && text.slice(0, root.start).trim() === '';
}

interface Fixable {
  readonly code: Code;
  readonly message: string;
  readonly edit: Edit;
}

/** Every error that has a fix. @throws TooManyStepsError */
function findFixes(text: string, options: ValidateOptions, maxSteps: number): Fixable[] {
  const found: Fixable[] = [];
  const add: AddDiagnostic = (code, severity, _path, make) => {
    if (severity !== 'error') return;
    const { message, fix } = make();
    if (!fix) return;
    if (found.push({ code, message, edit: fix }) > maxSteps / 4) throw new TooManyStepsError();
  };
  inspect(text, options, createPositions(text), add, maxSteps);
  return found;
}

/**
 * The fixes that do not overlap. Those that touch are separated too, unless both remove text. The others are left to the next
 * round.
 */
function selectSeparate(fixable: Fixable[]): Fixable[] {
  fixable.sort(({ edit: { range: a } }, { edit: { range: b } }) => a.start - b.start || a.end - b.end);
  let end = -1;
  let removes = false;
  return fixable.filter(({ edit: { range, newText } }) => {
    if (range.start < end || (range.start === end && !(removes && newText === ''))) return false;
    end = range.end;
    removes = newText === '';
    return true;
  });
}

function replaceAll(text: string, fixes: readonly Fixable[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { edit } of fixes) {
    parts.push(text.slice(from, edit.range.start), edit.newText);
    from = edit.range.end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** The range of an edit in the text before its round, and in the text after it. */
interface AppliedEdit {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

function toAppliedEdits(fixes: readonly Fixable[]): AppliedEdit[] {
  let shift = 0;
  return fixes.map(({ edit: { range, newText } }) => {
    const { start, end } = range;
    const newStart = start + shift;
    const newEnd = newStart + newText.length;
    shift = newEnd - end;
    return { start, end, newStart, newEnd };
  });
}

/** Maps the range of a fix to the original text. */
function mapToOriginal(rounds: readonly AppliedEdit[][], { range }: Edit, positions: Positions): Range {
  const start = rounds.reduceRight((offset, edits) => mapToPrevious(edits, offset, 'start'), range.start);
  const end = rounds.reduceRight((offset, edits) => mapToPrevious(edits, offset, 'end'), range.end);
  return positions.range({ start, end: Math.max(start, end) });
}

/** Maps an offset to the text before a round; inside inserted text, to the start or end of what it replaced. */
function mapToPrevious(edits: readonly AppliedEdit[], offset: number, side: 'start' | 'end'): number {
  let low = 0;
  let high = edits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edits[middle] as AppliedEdit).newStart <= offset) low = middle + 1;
    else high = middle;
  }
  const last = edits[low - 1];
  if (!last) return offset;
  return offset < last.newEnd ? last[side] : offset - last.newEnd + last.end;
}
