import { type CollectorOptions, createCollector, maxDiagnostics } from './collect-diagnostics.ts';
import type { Diagnostic } from './diagnostic.ts';
import { maxDepth, parseJson } from './json/parse-json.ts';
import { createPositions } from './json/positions.ts';
import { printValue } from './json/print-value.ts';
import { draftNewerFormat, isNewerFormat } from './rules/newer-format.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import type { Level } from './rules/rule.ts';
import { runRules } from './rules/run-rules.ts';
import { createSite } from './rules/site.ts';
import type { DocsConfig } from './schema/definition.ts';
import { normalize } from './schema/normalize.ts';

/** Options of a validation. */
export interface ValidateOptions {
  /** Severities by code, instead of the defaults. */
  readonly severities?: Readonly<Partial<Record<Code, Level>>>;
  /** Turns every warning into an error. */
  readonly strict?: boolean;
  /** Accepts groups inside the pages of a group. */
  readonly allowNestedGroups?: boolean;
  /** Paths of the site's files, relative to the folder of the document. Without it, references to files are not checked. */
  readonly files?: readonly string[];
}

/** The result of a validation. */
export interface Report {
  /** Whether there are no errors. */
  readonly valid: boolean;
  /** The number of errors, including those that are not listed; likewise for warnings. */
  readonly errorCount: number;
  readonly warningCount: number;
  /** In document order; at most 1,000, and then the last one states the total. */
  readonly diagnostics: readonly Diagnostic[];
  /** The document with every default filled in; null while there are errors. */
  readonly config: DocsConfig | null;
}

/** Validates the text of a configuration file, in linear time. Never throws. */
export function validateDocsConfig(source: string, options: ValidateOptions = {}): Report {
  return inspect(source, options, { limit: maxDiagnostics });
}

/** Like {@link validateDocsConfig}, with options for the list of diagnostics. */
export function inspect(source: string, options: ValidateOptions, collectorOptions: CollectorOptions): Report {
  const positions = createPositions(source);
  const levels = resolveLevels(options);
  const collector = createCollector(positions, levels, collectorOptions);
  const { root, tooDeep } = parseJson(source, ({ message, ...problem }) =>
    collector.add('json-syntax', [], () => ({
      ...problem,
      message: typeof message === 'string' ? message : message((offset) => positions.at(offset).line),
    })),
  );
  if (tooDeep !== undefined) {
    collector.add('too-deep', [], () => ({
      range: { start: tooDeep, end: tooDeep + 1 },
      message: `The document is nested deeper than ${maxDepth} levels; what lies deeper was not read.`,
      suggestion: 'Look for brackets that are never closed.',
    }));
  }
  if (collector.has('json-syntax')) demoteGuesses(levels, options);
  if (root && isNewerFormat(root) && levels.get('newer-format') !== 'off') {
    collector.add('newer-format', [], () => draftNewerFormat(root));
  } else if (root) {
    runRules(root, source, createSite(root, options.files), positions, collector);
  }
  const found = collector.finish();
  const valid = found.errorCount === 0;
  return { valid, ...found, config: valid && root ? normalize(root) : null };
}

/**
 * Validates a document given as a JSON value. Positions refer to its text as {@link printValue} prints it.
 *
 * @throws TypeError for a bigint, which JSON does not have.
 */
export function validateDocsConfigValue(value: unknown, options: ValidateOptions = {}): Report {
  return validateDocsConfig(printValue(value), options);
}

function resolveLevels({ severities = {}, strict, allowNestedGroups }: ValidateOptions): Map<Code, Level> {
  const levels = new Map<Code, Level>();
  for (const code of codes) {
    const level = Object.hasOwn(severities, code) ? severities[code] : undefined;
    const chosen = code === 'nested-group' && allowNestedGroups ? 'off' : (level ?? rules[code].severity);
    levels.set(code, strict && chosen === 'warning' ? 'error' : chosen);
  }
  return levels;
}

/**
 * As long as the text is not JSON, what it means is a guess, so diagnostics other than syntax errors become warnings. Severities
 * that the caller chose are kept.
 */
function demoteGuesses(levels: Map<Code, Level>, { severities = {}, strict }: ValidateOptions): void {
  if (strict) return;
  for (const [code, level] of levels) {
    const isGuess = code !== 'json-syntax' && code !== 'too-deep' && !Object.hasOwn(severities, code);
    if (isGuess && level === 'error') levels.set(code, 'warning');
  }
}
