import type { Diagnostic } from './diagnostic.ts';
import type { Positions } from './json/positions.ts';
import { type Code, codes } from './rules/registry.ts';
import type { DiagnosticDraft, Level, Severity } from './rules/rule.ts';

/** The maximum number of diagnostics that a report lists. */
export const maxDiagnostics = 1000;

/**
 * The maximum pointer length, in characters. Without it, long keys could make the list a thousand times as long as the document.
 */
const maxPointerLength = 4096;

/** Receives a diagnostic for the value at a path. The draft is made only when it is needed. */
export type AddDiagnostic = (
  code: Code,
  severity: Severity,
  path: readonly (string | number)[],
  make: () => DiagnosticDraft,
) => void;

/** Collects the diagnostics of a report: counts all of them, and keeps at most as many as requested. */
export interface DiagnosticCollector {
  readonly add: AddDiagnostic;
  /**
   * Returns the list in document order. When there are too many, errors are kept before warnings, and the last entry states the
   * total, unless `excessLevel` is `off`.
   */
  readonly finish: (excessLevel: Level) => { errorCount: number; warningCount: number; diagnostics: Diagnostic[] };
}

/** Creates an empty collector that lists at most `limit` diagnostics. */
export function createCollector(positions: Positions, limit: number): DiagnosticCollector {
  const kept: Record<Severity, Diagnostic[]> = { error: [], warning: [] };
  const counts: Record<Severity, number> = { error: 0, warning: 0 };
  const add: AddDiagnostic = (code, severity, path, make) => {
    counts[severity]++;
    if (kept[severity].length < limit) kept[severity].push(createDiagnostic(code, severity, path, make(), positions));
  };
  const finish: DiagnosticCollector['finish'] = (excessLevel) => {
    const all = counts.error + counts.warning;
    let diagnostics = [...kept.error, ...kept.warning];
    if (all > limit) {
      diagnostics = diagnostics.slice(0, limit - (excessLevel === 'off' ? 0 : 1));
    }
    diagnostics.sort(compareByPosition);
    if (all > limit && excessLevel !== 'off') {
      const message = `There are ${all} diagnostics; the list ends here, with ${limit - 1} of them.`;
      const start = diagnostics.at(-1)?.range.end.offset ?? 0;
      const draft = { range: { start, end: start }, message, suggestion: 'Correct these, then check again.' };
      counts[excessLevel]++;
      diagnostics.push(createDiagnostic('too-many-findings', excessLevel, [], draft, positions));
    }
    return { errorCount: counts.error, warningCount: counts.warning, diagnostics };
  };
  return { add, finish };
}

function createDiagnostic(
  code: Code,
  severity: Severity,
  path: readonly (string | number)[],
  draft: DiagnosticDraft,
  positions: Positions,
): Diagnostic {
  const { key, range, message, suggestion, fix } = draft;
  return {
    code,
    severity,
    message,
    pointer: createPointer(key === undefined ? path : [...path, key]),
    range: positions.range(range),
    suggestion: suggestion ?? null,
    fix: fix ? { range: positions.range(fix.range), newText: fix.newText } : null,
  };
}

function createPointer(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) {
    const key = String(segment);
    if (pointer.length + key.length >= maxPointerLength) return pointer;
    const longer = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (longer.length > maxPointerLength) return pointer;
    pointer = longer;
  }
  return pointer;
}

function compareByPosition(a: Diagnostic, b: Diagnostic): number {
  return a.range.start.offset - b.range.start.offset || codes.indexOf(a.code) - codes.indexOf(b.code);
}
