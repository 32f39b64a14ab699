import type { Diagnostic } from './diagnostic.ts';
import type { Positions } from './json/positions.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import type { DiagnosticDraft, Level, Severity } from './rules/rule.ts';

/** The maximum number of diagnostics that a report lists. */
export const maxDiagnostics = 1000;

/** The maximum pointer length, in characters. Without it, long keys could make the list a thousand times as long as the document. */
const maxPointerLength = 4096;

/** Collects the diagnostics of one document: counts all of them, and keeps at most as many as requested. */
export interface DiagnosticCollector {
  /** The severity of a code in this document; `off` when it is disabled. */
  readonly level: (code: Code) => Level;
  /** Whether a diagnostic with the code was added, even when it is disabled or was not kept. */
  readonly has: (code: Code) => boolean;
  /** Adds a diagnostic for the value at a path. The draft is made only when the diagnostic is kept. */
  readonly add: (code: Code, path: readonly (string | number)[], make: () => DiagnosticDraft) => void;
  /** Returns the list in document order. When there are too many, errors are kept before warnings. */
  readonly finish: () => { errorCount: number; warningCount: number; diagnostics: Diagnostic[] };
}

/** Which diagnostics are kept. All are counted. */
export interface CollectorOptions {
  /** The maximum length of the list. */
  readonly limit: number;
  /** Keeps only errors that have a fix. */
  readonly fixable?: true;
}

/** Creates an empty collector. */
export function createCollector(
  positions: Positions,
  levels: ReadonlyMap<Code, Level>,
  { limit, fixable }: CollectorOptions,
): DiagnosticCollector {
  const kept: Record<Severity, Diagnostic[]> = { error: [], warning: [] };
  const counts: Record<Severity, number> = { error: 0, warning: 0 };
  const level = (code: Code) => levels.get(code) ?? rules[code].severity;
  const seen = new Set<Code>();
  const add: DiagnosticCollector['add'] = (code, path, make) => {
    seen.add(code);
    const severity = level(code);
    if (severity === 'off') return;
    counts[severity]++;
    if (kept[severity].length >= limit || (fixable && severity !== 'error')) return;
    const draft = make();
    if (!fixable || draft.fix) kept[severity].push(createDiagnostic(code, severity, path, draft, positions));
  };
  const finish = () => {
    const all = counts.error + counts.warning;
    let diagnostics = [...kept.error, ...kept.warning];
    const excessLevel = level('too-many-findings');
    if (all > limit) {
      diagnostics = diagnostics.slice(0, limit - (excessLevel === 'off' ? 0 : 1));
    }
    diagnostics.sort(compareByPosition);
    if (all > limit && excessLevel !== 'off') {
      const message = `There are ${all} diagnostics; the list ends here, with ${limit - 1} of them.`;
      const start = diagnostics.at(-1)?.range.end.offset ?? 0;
      const draft = { range: { start, end: start }, message, suggestion: 'Correct these, then look again.' };
      counts[excessLevel]++;
      diagnostics.push(createDiagnostic('too-many-findings', excessLevel, [], draft, positions));
    }
    return { errorCount: counts.error, warningCount: counts.warning, diagnostics };
  };
  return { level, has: (code) => seen.has(code), add, finish };
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
