import { type AddDiagnostic, createCollector, type Diagnostic } from './collect-diagnostics.ts';
import { parseJson } from './json/parse-json.ts';
import { maxDepth, omitFix, type SyntaxProblem } from './json/parser-state.ts';
import { createPositions, type Positions } from './json/source-text.ts';
import type { JsonNode } from './json/syntax-tree.ts';
import { draftNewerFormat, isNewerFormat } from './rules/limits.ts';
import { type Code, codes, rules } from './rules/registry.ts';
import type { DiagnosticDraft, Level } from './rules/rule.ts';
import { type ReportAt, runRules } from './rules/run-rules.ts';
import { createSite } from './rules/site.ts';
import type { DocsConfig } from './schema/definition.ts';
import { normalize } from './schema/schema-model.ts';

/** The severity of each code in one document. */
type Levels = Record<Code, Level>;

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
  const positions = createPositions(source);
  const collector = createCollector(positions);
  const { root, levels } = inspect(source, options, positions, collector.add);
  const found = collector.finish(levels['too-many-findings']);
  const valid = found.errorCount === 0;
  return { valid, ...found, config: valid && root ? normalize(root) : null };
}

/**
 * Parses a text, runs the rules, and passes every diagnostic that is not switched off to `add`.
 *
 * @param maxSteps as {@link parseJson} takes it.
 * @throws TooManyStepsError as {@link parseJson} does.
 */
export function inspect(
  source: string,
  options: ValidateOptions,
  positions: Positions,
  add: AddDiagnostic,
  maxSteps?: number,
): { readonly root: JsonNode | undefined; readonly levels: Levels } {
  const levels = resolveLevels(options);
  const report: ReportAt = (code, path, make) => {
    const level = levels[code];
    if (level !== 'off') add(code, level, path, make);
  };
  const line = (offset: number) => positions.at(offset).line;
  let isJson = true;
  let isGuess = false;
  const onProblem = (problem: SyntaxProblem) => {
    isJson = false;
    if (!problem.fix) isGuess = true;
    report('json-syntax', [], () => draftSyntaxProblem(problem, line));
  };
  const { root, tooDeep } = parseJson(source, onProblem, maxSteps);
  if (tooDeep !== undefined) {
    report('too-deep', [], () => ({
      range: { start: tooDeep, end: tooDeep + 1 },
      message: `The document is nested deeper than ${maxDepth} levels; deeper values were skipped.`,
      suggestion: 'Look for brackets that are never closed.',
    }));
  }
  if (!isJson) demoteGuesses(levels, options);
  if (root && isNewerFormat(root) && levels['newer-format'] !== 'off') {
    report('newer-format', [], () => draftNewerFormat(root));
  } else if (root) {
    // What was guessed is not rewritten.
    const reportRule: ReportAt = isGuess ? (code, path, make) => report(code, path, () => omitFix(make())) : report;
    runRules(root, { text: source, site: createSite(root, options.files), line, levels, report: reportRule });
  }
  return { root, levels };
}

function draftSyntaxProblem(
  { range, message, suggestion, fix }: SyntaxProblem,
  line: (offset: number) => number,
): DiagnosticDraft {
  return { range, message: typeof message === 'string' ? message : message(line), suggestion, ...(fix && { fix }) };
}

function resolveLevels({ severities = {}, strict, allowNestedGroups }: ValidateOptions): Levels {
  const entries = codes.map((code): [Code, Level] => {
    const level = (Object.hasOwn(severities, code) && severities[code]) || rules[code].severity;
    const chosen = code === 'nested-group' && allowNestedGroups ? 'off' : level;
    return [code, strict && chosen === 'warning' ? 'error' : chosen];
  });
  return Object.fromEntries(entries) as Levels;
}

/**
 * As long as the text is not JSON, what it means is a guess, so diagnostics other than syntax errors become warnings. Severities
 * that the caller chose are kept.
 */
function demoteGuesses(levels: Levels, { severities = {}, strict }: ValidateOptions): void {
  if (strict) return;
  for (const code of codes) {
    const isGuess = code !== 'json-syntax' && code !== 'too-deep' && !Object.hasOwn(severities, code);
    if (isGuess && levels[code] === 'error') levels[code] = 'warning';
  }
}

/** The maximum number of indentation characters. The indentation of a deep value can be 400 times as long as the value. */
const maxIndentCharacters = 2_000_000;

/**
 * Prints a JSON value like `JSON.stringify(value, null, 2)`; without indentation when that alone would take more than 2,000,000
 * characters. A value deeper than the parser accepts is replaced by brackets nested as deep.
 *
 * @throws TypeError for a bigint, which JSON does not have.
 */
export function printValue(value: unknown): string {
  const indents = countIndentCharacters(value);
  // Printing it would overflow the stack; brackets in its place lead to the same diagnostic.
  if (indents === undefined) return `${'['.repeat(maxDepth + 1)}${']'.repeat(maxDepth + 1)}`;
  // `undefined` and functions have no text, whatever the type says.
  const printed: string | undefined = JSON.stringify(value, null, indents > maxIndentCharacters ? 0 : 2);
  return printed === undefined ? 'null' : printed;
}

/** The number of indentation characters of a value; undefined when it is deeper than the parser accepts. */
function countIndentCharacters(value: unknown): number | undefined {
  let total = 0;
  let isTooDeep = false;
  function visit(item: unknown, depth: number): void {
    isTooDeep ||= depth > maxDepth;
    total += 2 * depth;
    if (isTooDeep || typeof item !== 'object' || item === null) return;
    if (Array.isArray(item)) for (const part of item) visit(part, depth + 1);
    else for (const key in item) visit((item as Record<string, unknown>)[key], depth + 1);
  }
  visit(value, 0);
  return isTooDeep ? undefined : total;
}
