import type { Positions, Range } from './json/source-text.ts';
import { type Code, codes } from './rules/registry.ts';
import type { DiagnosticDraft, Level, Severity } from './rules/rule.ts';

/** A problem in a document: an error, or a warning worth a look. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /**
   * JSON pointer (RFC 6901): for a missing field, where it would be; empty for the document and for syntax. At most 4,096
   * characters: a longer one is cut to the innermost value that fits.
   */
  readonly pointer: string;
  /** One plain sentence that includes the offending value. */
  readonly message: string;
  /** The offending text: the key for an unknown key, the opening bracket for a missing field, otherwise the value. */
  readonly range: Range;
  /** How to fix it. */
  readonly suggestion: string | null;
  /** An edit that is certain to be what was meant; null when there is a choice. */
  readonly fix: { readonly range: Range; readonly newText: string } | null;
}

/** The maximum number of diagnostics that a report lists. */
const maxDiagnostics = 1000;

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

/** Creates an empty collector of the diagnostics of a report: it counts all of them, and keeps at most 1,000. */
export function createCollector(positions: Positions) {
  const kept: Record<Severity, Diagnostic[]> = { error: [], warning: [] };
  const counts: Record<Severity, number> = { error: 0, warning: 0 };
  const add: AddDiagnostic = (code, severity, path, make) => {
    counts[severity]++;
    if (kept[severity].length < maxDiagnostics) kept[severity].push(createDiagnostic(code, severity, path, make(), positions));
  };
  /**
   * Returns the list in document order. When there are too many, errors are kept before warnings, and the last entry states the
   * total, unless `excessLevel` is `off`.
   */
  const finish = (excessLevel: Level) => {
    const all = counts.error + counts.warning;
    const isStated = all > maxDiagnostics && excessLevel !== 'off';
    const diagnostics = [...kept.error, ...kept.warning].slice(0, maxDiagnostics - (isStated ? 1 : 0)).sort(compareByPosition);
    if (isStated) {
      const message = `There are ${all} diagnostics; the list ends here, with ${diagnostics.length} of them.`;
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
    pointer: createPointer(key === undefined ? path : [...path, key]),
    message,
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
