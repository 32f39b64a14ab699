import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { applyFixes, type FixedText } from '../docs-config/apply-fixes.ts';
import { TooManyStepsError } from '../docs-config/json/parse-json.ts';
import { type CheckedFile, explain, renderFixes, renderPretty } from '../docs-config/reporters/pretty.ts';
import { programFormats } from '../docs-config/reporters/programs.ts';
import { codes } from '../docs-config/rules/registry.ts';
import { docsConfigJsonSchema } from '../docs-config/schema/json-schema.ts';
import { type ValidateOptions, validateDocsConfig } from '../docs-config/validate.ts';
import { escapeControls } from '../terminal-text.ts';
import { codeFrom, formatFrom, readArguments, severitiesFrom } from './docs-config-arguments.ts';
import { filesAround, findFiles } from './find-files.ts';
import { runAction, UsageError } from './options.ts';
import { assertOutput } from './output.ts';
import { decode, readAll, readConfigFile, reason } from './read-file.ts';
import { prepareReplacement, type Replacement } from './replace-file.ts';

/** A stream for text. */
interface Output {
  /** @param written is called when the text was written, with an error when it was not. */
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

/** The parts of the process that a command uses. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: Output & { isTTY?: boolean };
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly cwd: string;
}

const help = `Usage: docs-config check FILE… [options]   Check configuration files of documentation sites
       docs-config explain CODE            Explain a diagnostic, with a wrong and a correct example
       docs-config schema [options]        Print the JSON Schema of the file, for editors

FILE is a file, a folder (each mint.json in it and below), a glob in quotes, or - for standard input.

Options of check:
  --strict                 Make every warning an error
  --allow-nested-groups    Accept groups inside the pages of a group
  --severity CODE=LEVEL    Make a code an error, a warning, or off; may be repeated
  --format FORMAT          pretty (default), json, sarif, or github (annotations of GitHub Actions)
  --fix                    Apply and list the fixes that are certain, then check
Options of schema:
  --strict, --allow-nested-groups    Print the schema that agrees with check under these options

References to pages and other files are resolved in the folder of each file; those of standard input are not checked.
Color is used on a terminal. FORCE_COLOR=1 turns it on and FORCE_COLOR=0 off; without it NO_COLOR turns it off.
Exit status: 0 no errors, 1 errors, 2 a file cannot be read or the arguments are invalid.
Codes: ${codes.join(', ')}
`;

/**
 * Checks configuration files, explains codes, or prints the JSON Schema. Needs neither database nor gateway.
 *
 * @returns the exit status: 0 no errors, 1 errors, 2 a file cannot be read.
 * @throws UsageError for invalid arguments.
 */
export const docsConfig = (args: string[], io: CommandIo): Promise<number> =>
  runAction('docs-config', help, { check, explain: explainCode, schema }, args, io);

async function check(args: string[], io: CommandIo): Promise<number> {
  const { given, words } = readArguments(args, {
    strict: 'flag',
    'allow-nested-groups': 'flag',
    severity: 'values',
    format: 'values',
    fix: 'flag',
  });
  const format = formatFrom(given.get('format')?.at(-1));
  const options = {
    strict: given.has('strict'),
    allowNestedGroups: given.has('allow-nested-groups'),
    severities: severitiesFrom(given.get('severity') ?? []),
  };
  const fix = given.has('fix');
  if (words.length === 0) throw new UsageError('Specify the files to check, or - for standard input.');
  if (words.includes('')) throw new UsageError('The name of a file is empty. Specify . for the current folder.');
  if (words.filter((file) => file === '-').length > 1) throw new UsageError('Standard input (-) can be read once.');
  if (fix && words.includes('-'))
    throw new UsageError('--fix cannot be used with standard input (-): there is no file to write.');
  // These formats cannot contain the fixes.
  const fixesBeside = format === 'github' || format === 'sarif';
  const outputs = fix ? [io.stdout, ...(fixesBeside ? [io.stderr] : [])] : [];
  for (const output of outputs) assertOutput(output, 'No file was changed, because the fixes are reported there. Redirect it.');

  const { files, problems } = await allFiles(words, io);
  const checked: CheckedFile[] = [];
  const replacements: FileReplacement[] = [];
  let characters = 0;
  const assertFits = (file: CheckedFile) => {
    const rendered =
      format === 'pretty' ? renderPretty([file], true) : programFormats[format]([file]) + renderFixes([file], false);
    characters += file.source.length + rendered.length;
    if (characters > maxCharacters) throw new Error('The report would be too long with this file. Check fewer files at once.');
  };
  for (const file of files) {
    try {
      const { replacement, ...found } = await checkFile(file, options, fix, io, assertFits);
      checked.push(found);
      if (replacement) replacements.push({ file, replacement });
    } catch (error) {
      problems.push(`${file}: ${reason(error)}`);
    }
  }
  // First what goes beside the report, so that the report does not say that all is well when that is lost.
  let notes = problems.map((problem) => `${escapeControls(problem)}\n`).join('');
  if (fixesBeside) notes += renderFixes(checked, false);
  const isReported =
    (await isWritten(io.stderr, notes)) &&
    (await isWritten(io.stdout, format === 'pretty' ? prettyReport(checked, io) : programFormats[format](checked)));
  const failures = await replaceFiles(replacements, isReported);
  for (const failure of failures) io.stderr.write(`${escapeControls(failure)}\n`);
  if (problems.length > 0 || (isReported && failures.length > 0)) return 2;
  return isReported && checked.every(({ report }) => report.valid) ? 0 : 1;
}

function prettyReport(checked: readonly CheckedFile[], io: CommandIo): string {
  return checked.length > 0 ? renderPretty(checked, usesColor(io)) : '';
}

/** Writes a text; false when it cannot be written. */
function isWritten(output: Output, text: string): Promise<boolean> {
  if (text === '') return Promise.resolve(true);
  return new Promise((done) => output.write(text, (error) => done(!error)));
}

interface FileReplacement {
  readonly file: string;
  readonly replacement: Replacement;
}

/** Replaces the files whose fixes are reported, and returns a message for each that was not replaced. */
async function replaceFiles(replacements: readonly FileReplacement[], isReported: boolean): Promise<string[]> {
  const failures: string[] = [];
  for (const { file, replacement } of replacements) {
    try {
      if (!isReported) throw new Error('The file was not changed, because the report cannot be written.');
      await replacement.publish();
    } catch (error) {
      failures.push(`${file}: ${reason(error)}`);
    } finally {
      await replacement.discard();
    }
  }
  return failures;
}

function explainCode(args: string[], io: CommandIo): number {
  io.stdout.write(explain(codeFrom(readArguments(args, {}).words)));
  return 0;
}

function schema(args: string[], io: CommandIo): number {
  const { given, words } = readArguments(args, { strict: 'flag', 'allow-nested-groups': 'flag' });
  if (words.length > 0) throw new UsageError(`schema takes no files, but got ${words[0]}.`);
  const options = { strict: given.has('strict'), allowNestedGroups: given.has('allow-nested-groups') };
  io.stdout.write(`${JSON.stringify(docsConfigJsonSchema(options), null, 2)}\n`);
  return 0;
}

/** The files of all arguments, each once, and a message for each argument that matches none. */
async function allFiles(args: readonly string[], { cwd }: CommandIo): Promise<{ files: Iterable<string>; problems: string[] }> {
  const files = new Map<string, string>();
  const problems: string[] = [];
  for (const argument of args) {
    if (argument === '-') files.set('-', '-');
    else {
      const found = await findFiles(argument, cwd);
      for (const file of found.files) {
        const path = await realFolder(resolve(cwd, file));
        if (!files.has(path)) files.set(path, file);
      }
      if (found.problem) problems.push(`${argument}: ${found.problem}`);
    }
  }
  return { files: files.values(), problems };
}

/** The path without links to folders. A file that is a link stays apart: its references are those of its own folder. */
async function realFolder(path: string): Promise<string> {
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}

/** The files that the references of a file may name. @throws Error when they are too many to list. */
async function filesBeside(path: string): Promise<string[]> {
  const files = await filesAround(dirname(path));
  if (files) return files;
  throw new Error(
    'There are more than 100,000 files and folders in its folder. Pass it on standard input to check all but its references.',
  );
}

/**
 * Checks a file, after fixing it if `fix` is set. The file is replaced only once its fixes are reported.
 *
 * @param assertFits throws when the report cannot take the file.
 */
async function checkFile(
  file: string,
  options: ValidateOptions,
  fix: boolean,
  io: CommandIo,
  assertFits: (checked: CheckedFile) => void,
): Promise<CheckedFile & { replacement: Replacement | undefined }> {
  const path = resolve(io.cwd, file);
  const content = await (file === '-' ? readAll(io.stdin) : readConfigFile(path));
  const source = decode(content);
  const known = file === '-' ? options : { ...options, files: await filesBeside(path) };
  const { text, fixes, fixCount } = fix ? fixWithinMemory(source, known) : { text: source, fixes: [], fixCount: 0 };
  const checked = { file, source: text, report: validateDocsConfig(text, known), ...(fix && { fixed: { fixes, fixCount } }) };
  assertFits(checked);
  const replacement = fixCount > 0 ? await prepareReplacement(path, Buffer.from(content), text) : undefined;
  return { ...checked, replacement };
}

/** Up to this many values and marks are read of any document to fix; of a longer one, one for every few characters. */
const minFixSteps = 2 ** 17;
const charactersPerFixStep = 10;

/** @throws Error when the text has so much to read or fix that this would take more than 40 times its size in memory. */
function fixWithinMemory(source: string, options: ValidateOptions): FixedText {
  try {
    return applyFixes(source, options, Math.max(minFixSteps, Math.floor(source.length / charactersPerFixStep)));
  } catch (error) {
    if (!(error instanceof TooManyStepsError)) throw error;
    throw new Error('The file has too many values or mistakes to fix, and was not changed. Check it without --fix.');
  }
}

/** Color on a terminal. FORCE_COLOR decides before NO_COLOR, as in Node.js; either counts when it is not empty. */
function usesColor({ stdout, env }: CommandIo): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced) return forced !== '0' && forced !== 'false';
  return stdout.isTTY === true && !env['NO_COLOR'];
}

/** The most characters of all files and their reports together: half of what one text can have in Node.js. */
const maxCharacters = 2 ** 28;
