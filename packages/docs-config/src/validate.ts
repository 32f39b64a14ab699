import { isUtf8 } from 'node:buffer';
import { checkDocument, type ReportAt } from './check-document.ts';
import { type DocsConfig, docsConfig } from './definition.ts';
import type { Problem } from './json.ts';
import { Positions, type Range } from './positions.ts';
import { findNewerFormat } from './rules/document.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import type { Level, Severity } from './rules/rule.ts';

/** Options of a validation. */
export interface ValidateOptions {
  /** The name of the file, by which a file of the newer format is recognized. */
  readonly fileName?: string;
  /** Severities by code, instead of the defaults. */
  readonly severities?: Readonly<Partial<Record<Code, Level>>>;
  /** Turns every warning into an error. */
  readonly strict?: boolean;
  /** Accepts groups inside the pages of a group. */
  readonly allowNestedGroups?: boolean;
  /** Paths of the site's files, relative to the folder of the document. Without it, references to files are not checked. */
  readonly files?: readonly string[];
}

/** An error, or a warning worth a look. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** JSON pointer (RFC 6901): for a missing field, where it would be; empty for the document and for syntax. */
  readonly pointer: string;
  /** What is wrong, with the offending value. */
  readonly message: string;
  /** The offending text: the key for an unknown key, the opening bracket for a missing field, otherwise the value. */
  readonly range: Range;
  /** How to fix it; null if the message says so. */
  readonly suggestion: string | null;
}

/** The result of a validation. */
export interface Report {
  /** The text that was checked. */
  readonly text: string;
  /** Whether there are no errors. */
  readonly valid: boolean;
  /** The number of errors and of warnings. The check ends at 1,001 errors, and the search for warnings at 1,001 warnings. */
  readonly errorCount: number;
  readonly warningCount: number;
  /** In document order; at most 1,000, and then the last one says that there are more. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The maximum number of diagnostics that a report lists. */
const maxDiagnostics = 1000;

/**
 * Validates a configuration file in linear time. Never throws.
 *
 * @param source the text of the file, or its bytes, which must be UTF-8.
 */
export function validate(source: string | Uint8Array, options: ValidateOptions = {}): Report {
  const text = typeof source === 'string' ? source : new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
  const levels = resolveLevels(options);
  const positions = new Positions(text);
  const kept: Record<Severity, Diagnostic[]> = { error: [], warning: [] };
  const isFull: Record<Severity, boolean> = { error: false, warning: false };
  const add: ReportAt = (code, make) => {
    const severity = levels[code];
    if (severity === 'off' || isFull[severity]) return;
    const { range, message, suggestion = null, pointer } = make();
    kept[severity].push({ code, severity, pointer, message, range: positions.range(range), suggestion });
    isFull[severity] = kept[severity].length > maxDiagnostics;
  };

  const { files, fileName } = options;
  const isText = typeof source === 'string' || isUtf8(source);
  const result = isText ? checkDocument(text, { files, levels, isFull, report: add }) : notUtf8(text);
  const isJson = 'members' in result;
  const newer = isJson && levels['newer-format'] !== 'off' ? findNewerFormat(result, fileName) : undefined;
  if (!isJson || newer) {
    // This one diagnostic, and no others.
    kept.error.length = kept.warning.length = 0;
    isFull.error = isFull.warning = false;
    add(isJson ? 'newer-format' : result.code, () => ({ ...(newer ?? (result as Problem)), pointer: '' }));
  }

  const stated = kept.error.length + kept.warning.length > maxDiagnostics ? levels['too-many-findings'] : 'off';
  const diagnostics = [...kept.error, ...kept.warning]
    .slice(0, maxDiagnostics - (stated === 'off' ? 0 : 1))
    .sort(compareByPosition);
  if (stated !== 'off') {
    const start = diagnostics.at(-1)?.range.end.offset ?? 0;
    const statement: Diagnostic = {
      ...{ code: 'too-many-findings', severity: stated, pointer: '', range: positions.range({ start, end: start }) },
      message: `There are more than ${maxDiagnostics} diagnostics; the list ends here.`,
      suggestion: 'Correct these, then check again.',
    };
    kept[stated].push(statement);
    diagnostics.push(statement);
  }
  const [errorCount, warningCount] = [kept.error.length, kept.warning.length];
  return { text, valid: errorCount === 0, errorCount, warningCount, diagnostics };
}

/**
 * The document of a report with every default filled in. Null while there are errors, and for a value that does not fit because
 * its code is off.
 */
export function withDefaults({ valid, text }: Report): DocsConfig | null {
  return valid ? (docsConfig.safeParse(JSON.parse(text)).data ?? null) : null;
}

/** The codes that are always errors: without JSON there is nothing else to say. */
export const fixedCodes: readonly string[] = ['json-syntax', 'too-deep'];

function resolveLevels({ severities = {}, strict, allowNestedGroups }: ValidateOptions): Record<Code, Level> {
  const entries = codes.map((code): [Code, Level] => {
    const isGiven = Object.hasOwn(severities, code) && !fixedCodes.includes(code);
    const level = (isGiven && severities[code]) || rules[code].severity;
    const chosen = code === 'nested-group' && allowNestedGroups ? 'off' : level;
    return [code, strict && chosen === 'warning' ? 'error' : chosen];
  });
  return Object.fromEntries(entries) as Record<Code, Level>;
}

function notUtf8(text: string): Problem {
  const start = text.indexOf('\ufffd');
  return { code: 'json-syntax', range: { start, end: start + 1 }, message: 'The file is not UTF-8. Save it as UTF-8.' };
}

function compareByPosition(a: Diagnostic, b: Diagnostic): number {
  return a.range.start.offset - b.range.start.offset || codes.indexOf(a.code) - codes.indexOf(b.code);
}
