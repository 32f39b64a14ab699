import type { Positions, Range } from './json/positions.ts';
import { type Code, codes, pagePath, rules } from './rules/registry.ts';
import type { Draft, Severity } from './rules/rule.ts';

/** What a caller can make of a code. */
export type Level = Severity | 'off';

/** The most findings that a report lists. */
export const maxFindings = 1000;

/** The longest pointer, in characters: with keys of any length a list of findings would be a thousand times its document. */
const maxPointerLength = 4096;

/** One thing that is wrong, or worth a look. */
export interface Finding {
  readonly code: Code;
  readonly severity: Severity;
  /** One plain sentence, with the value found. */
  readonly message: string;
  /**
   * JSON pointer (RFC 6901); of a missing field where it would stand; empty for the document and for its syntax. At most
   * {@link maxPointerLength} characters: of a longer one the part that leads to the innermost value within that length.
   */
  readonly pointer: string;
  /** The offending text: a key for one that is not known, the opening of the object for a field that is missing, else the value. */
  readonly range: Range;
  /** What to do. */
  readonly suggestion: string | null;
  /** An edit that is certainly what was meant; null where there is a choice. */
  readonly fix: Fix | null;
  /** Path of the page about the code. */
  readonly url: string;
}

/** One replacement in the text. */
export interface Fix {
  readonly range: Range;
  readonly newText: string;
}

/** The findings of one document: counts all of them and keeps at most as many as are wanted. */
export interface Findings {
  /** The severity of a code here; `off` for one not to be looked for. */
  readonly level: (code: Code) => Level;
  /** Whether there is one of a code so far, whatever became of it. */
  readonly has: (code: Code) => boolean;
  readonly add: (code: Code, path: readonly (string | number)[], make: () => Draft) => void;
  /** The list in the order of the text. Errors are kept before warnings when there are too many. */
  readonly finish: () => { errorCount: number; warningCount: number; diagnostics: Finding[] };
}

/** Which findings of a document are kept. All are counted. */
export interface Wanted {
  /** The greatest length of the list. */
  readonly limit: number;
  /** Only errors with an edit that is certain. */
  readonly fixable?: true;
}

/** Starts an empty list. */
export function collect(positions: Positions, levels: ReadonlyMap<Code, Level>, { limit, fixable }: Wanted): Findings {
  const kept: Record<Severity, Finding[]> = { error: [], warning: [] };
  const counts: Record<Severity, number> = { error: 0, warning: 0 };
  const level = (code: Code) => levels.get(code) ?? rules[code].severity;
  const met = new Set<Code>();
  const add: Findings['add'] = (code, path, make) => {
    met.add(code);
    const severity = level(code);
    if (severity === 'off') return;
    counts[severity]++;
    if (kept[severity].length >= limit || (fixable && severity !== 'error')) return;
    const draft = make();
    if (!fixable || draft.fix) kept[severity].push(finding(code, severity, path, draft, positions));
  };
  const finish = () => {
    const all = counts.error + counts.warning;
    let diagnostics = [...kept.error, ...kept.warning];
    const excess = level('too-many-findings');
    if (all > limit) {
      const room = limit - (excess === 'off' ? 0 : 1);
      diagnostics = diagnostics.slice(0, room);
    }
    diagnostics.sort(byPlace);
    if (all > limit && excess !== 'off') {
      const message = `There are ${all} findings; the list ends here, with ${limit - 1} of them.`;
      const start = diagnostics.at(-1)?.range.end.offset ?? 0;
      const draft = { range: { start, end: start }, message, suggestion: 'Correct these, then look again.' };
      counts[excess]++;
      diagnostics.push(finding('too-many-findings', excess, [], draft, positions));
    }
    return { errorCount: counts.error, warningCount: counts.warning, diagnostics };
  };
  return { level, has: (code) => met.has(code), add, finish };
}

function finding(
  code: Code,
  severity: Severity,
  path: readonly (string | number)[],
  draft: Draft,
  positions: Positions,
): Finding {
  const { key, range, message, suggestion, fix } = draft;
  return {
    code,
    severity,
    message,
    pointer: pointerTo(key === undefined ? path : [...path, key]),
    range: positions.range(range),
    suggestion: suggestion ?? null,
    fix: fix ? { range: positions.range(fix.range), newText: fix.newText } : null,
    url: pagePath(code),
  };
}

function pointerTo(path: readonly (string | number)[]): string {
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

function byPlace(a: Finding, b: Finding): number {
  return a.range.start.offset - b.range.start.offset || codes.indexOf(a.code) - codes.indexOf(b.code);
}
