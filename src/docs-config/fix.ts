import type { Finding, Fix } from './findings.ts';
import { inspect, type ValidateOptions } from './validate.ts';

/** One correction can bring the next to light: a quote first, then the comma behind it. Real files need two rounds. */
const maxRounds = 20;

/**
 * Applies every edit that is certainly what was meant, of errors only, so that a valid text stays as it is. Applied to its own
 * result it changes nothing.
 *
 * @returns the text, and how many edits were applied.
 */
export function applyFixes(source: string, options: ValidateOptions = {}): { text: string; applied: number } {
  let text = source;
  let applied = 0;
  for (let round = 0; round < maxRounds; round++) {
    const fixes = apart(inspect(text, options, Number.POSITIVE_INFINITY).diagnostics);
    if (fixes.length === 0) break;
    text = edit(text, fixes);
    applied += fixes.length;
  }
  return { text, applied };
}

/** The edits that touch nothing that another one touches; the rest comes in the next round. */
function apart(findings: readonly Finding[]): Fix[] {
  const fixes = findings.flatMap(({ severity, fix }) => (severity === 'error' && fix ? [fix] : []));
  fixes.sort((a, b) => a.range.start.offset - b.range.start.offset || a.range.end.offset - b.range.end.offset);
  let end = -1;
  return fixes.filter(({ range }) => {
    if (range.start.offset <= end) return false;
    end = range.end.offset;
    return true;
  });
}

function edit(text: string, fixes: readonly Fix[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { range, newText } of fixes) {
    parts.push(text.slice(from, range.start.offset), newText);
    from = range.end.offset;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
