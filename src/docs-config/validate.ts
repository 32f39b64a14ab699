import { collect, type Finding, type Level, maxFindings, type Wanted } from './diagnostics.ts';
import { maxDepth, parseJson } from './json/parse-json.ts';
import { createPositions } from './json/positions.ts';
import { printValue } from './json/print-value.ts';
import { isNewerFormat, newerFormatDraft } from './rules/newer-format.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import { walk } from './rules/run-rules.ts';
import { siteOf } from './rules/site.ts';
import type { DocsConfig } from './schema/definition.ts';
import { normalize } from './schema/normalize.ts';

/** What a caller can choose. */
export interface ValidateOptions {
  /** The severity of single codes, instead of the one in the table. */
  readonly severities?: Readonly<Partial<Record<Code, Level>>>;
  /** Makes every warning an error. */
  readonly strict?: boolean;
  /** Accepts groups inside the pages of a group. */
  readonly allowNestedGroups?: boolean;
  /** Paths of the site's files from the folder of the document. Absent: references to files are not checked. */
  readonly files?: readonly string[];
}

/** What was found in a document. */
export interface Report {
  /** No finding is an error. */
  readonly valid: boolean;
  /** All of them, also those beyond the list. */
  readonly errorCount: number;
  readonly warningCount: number;
  /** In the order of the text; at most 1,000, then the last one says how many there are. */
  readonly diagnostics: readonly Finding[];
  /** The document with every default filled in; null while there are errors. */
  readonly config: DocsConfig | null;
}

/** Checks the text of a configuration file. Never throws, whatever the text; linear in its length. */
export function validateDocsConfig(source: string, options: ValidateOptions = {}): Report {
  return inspect(source, options, { limit: maxFindings });
}

/** As {@link validateDocsConfig}, with a choice of what is listed. */
export function inspect(source: string, options: ValidateOptions, wanted: Wanted): Report {
  const positions = createPositions(source);
  const levels = levelsFor(options);
  const findings = collect(positions, levels, wanted);
  const { root, tooDeep } = parseJson(source, ({ message, ...problem }) =>
    findings.add('json-syntax', [], () => ({
      ...problem,
      message: typeof message === 'string' ? message : message((offset) => positions.at(offset).line),
    })),
  );
  if (tooDeep !== undefined) {
    findings.add('too-deep', [], () => ({
      range: { start: tooDeep, end: tooDeep + 1 },
      message: `The document is nested deeper than ${maxDepth} levels; what lies deeper was not read.`,
      suggestion: 'Look for brackets that are never closed.',
    }));
  }
  if (findings.has('json-syntax')) softenWhatIsGuessed(levels, options);
  if (root && isNewerFormat(root) && levels.get('newer-format') !== 'off') {
    findings.add('newer-format', [], () => newerFormatDraft(root));
  } else if (root) {
    walk(root, source, siteOf(root, options.files), positions, findings);
  }
  const found = findings.finish();
  const valid = found.errorCount === 0;
  return { valid, ...found, config: valid && root ? normalize(root) : null };
}

/**
 * Checks a document given as a JSON value. Positions refer to its text as {@link printValue} prints it.
 *
 * @throws TypeError for what JSON has not: a bigint.
 */
export function validateDocsConfigValue(value: unknown, options: ValidateOptions = {}): Report {
  return validateDocsConfig(printValue(value), options);
}

function levelsFor({ severities = {}, strict, allowNestedGroups }: ValidateOptions): Map<Code, Level> {
  const levels = new Map<Code, Level>();
  for (const code of codes) {
    const level = Object.hasOwn(severities, code) ? severities[code] : undefined;
    const chosen = code === 'nested-group' && allowNestedGroups ? 'off' : (level ?? rules[code].severity);
    levels.set(code, strict && chosen === 'warning' ? 'error' : chosen);
  }
  return levels;
}

/**
 * While the text is not JSON, what stands in it is a guess, and what follows from a guess is no error: it is told as a warning.
 * Correcting the syntax shows what is left of it. Severities that the caller chose stay.
 */
function softenWhatIsGuessed(levels: Map<Code, Level>, { severities = {}, strict }: ValidateOptions): void {
  if (strict) return;
  for (const [code, level] of levels) {
    const isGuessed = code !== 'json-syntax' && code !== 'too-deep' && !Object.hasOwn(severities, code);
    if (isGuessed && level === 'error') levels.set(code, 'warning');
  }
}
