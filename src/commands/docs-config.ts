import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { CheckedFile } from '../docs-config/checked-file.ts';
import type { Level } from '../docs-config/findings.ts';
import { applyFixes } from '../docs-config/fix.ts';
import { docsConfigJsonSchema } from '../docs-config/json-schema.ts';
import { nearest } from '../docs-config/nearest.ts';
import { renderGithub } from '../docs-config/render-github.ts';
import { renderJson } from '../docs-config/render-json.ts';
import { renderPretty } from '../docs-config/render-pretty.ts';
import { renderSarif } from '../docs-config/render-sarif.ts';
import { type Code, codes, isCode } from '../docs-config/rules/table.ts';
import { type ValidateOptions, validateDocsConfig } from '../docs-config/validate.ts';
import { filesAround } from './files-around.ts';
import { replaceFile } from './replace-file.ts';

/** What a command touches of its process. */
export interface CommandIo {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: { write(text: string): unknown; isTTY?: boolean };
  readonly stderr: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly cwd: string;
}

const help = `Usage: docs-config check FILE… [options]   Check configuration files of documentation sites; - is standard input
       docs-config schema [options]        Print the JSON Schema of the file, for editors

Options of check:
  --strict                 Make every warning an error
  --allow-nested-groups    Accept groups inside the pages of a group
  --severity CODE=LEVEL    Make a code an error, a warning, or switch it off; may be given several times
  --format FORMAT          pretty (default), json, sarif, or github (annotations of GitHub Actions)
  --fix                    Correct in the files what can be corrected with certainty, then check
Options of schema:
  --strict, --allow-nested-groups    Print the schema that agrees with check under these options

References to pages and other files are looked up around each file; those of standard input are not looked up.
Exit status: 0 nothing is an error, 1 something is, 2 a file cannot be read or the command is mistyped.
Codes: ${codes.join(', ')}
`;

const renderers = { json: renderJson, sarif: renderSarif, github: renderGithub } as const;

/** What is wrong with the arguments; its message is for the user. */
class UsageError extends Error {}

/**
 * Checks configuration files, or prints their JSON Schema. Needs neither database nor gateway.
 *
 * @returns the exit status: 0 nothing is an error, 1 something is, 2 a file cannot be read or the arguments are mistaken.
 */
export async function docsConfig(args: string[], io: CommandIo): Promise<number> {
  const [command, ...rest] = args;
  try {
    if (rest.includes('--help') || rest.includes('-h') || command === '--help' || command === '-h') {
      io.stdout.write(help);
      return 0;
    }
    if (command === 'check') return await check(rest, io);
    if (command === 'schema') return schema(rest, io);
    throw new UsageError(
      command === undefined ? 'Say what to do: check or schema.' : unknown('command', command, ['check', 'schema']),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.stderr.write(`${error.message}\nTry docs-config --help.\n`);
    return 2;
  }
}

async function check(args: string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parse(args, {
    strict: { type: 'boolean' },
    'allow-nested-groups': { type: 'boolean' },
    severity: { type: 'string', multiple: true },
    format: { type: 'string' },
    fix: { type: 'boolean' },
  });
  const format = formatFrom(values.format as string | undefined);
  const options = {
    strict: values.strict === true,
    allowNestedGroups: values['allow-nested-groups'] === true,
    severities: severitiesFrom((values.severity as string[] | undefined) ?? []),
  };
  if (positionals.length === 0) throw new UsageError('Name the files to check, or - for standard input.');
  if (positionals.filter((file) => file === '-').length > 1) throw new UsageError('Standard input (-) can be read once.');
  if (values.fix && positionals.includes('-'))
    throw new UsageError('--fix writes to files; it has none with standard input (-).');

  const checked: CheckedFile[] = [];
  let unreadable = false;
  for (const file of positionals) {
    try {
      checked.push(await checkFile(file, options, values.fix === true, io));
    } catch (error) {
      unreadable = true;
      io.stderr.write(`${file}: ${reason(error)}\n`);
    }
  }
  if (format !== 'pretty') io.stdout.write(renderers[format](checked));
  else if (checked.length > 0) io.stdout.write(renderPretty(checked, io.stdout.isTTY === true && !io.env['NO_COLOR']));
  if (unreadable) return 2;
  return checked.every(({ report }) => report.valid) ? 0 : 1;
}

function schema(args: string[], io: CommandIo): number {
  const { values, positionals } = parse(args, { strict: { type: 'boolean' }, 'allow-nested-groups': { type: 'boolean' } });
  if (positionals.length > 0) throw new UsageError(`schema takes no files, but got ${positionals[0]}.`);
  const options = { strict: values.strict === true, allowNestedGroups: values['allow-nested-groups'] === true };
  io.stdout.write(`${JSON.stringify(docsConfigJsonSchema(options), null, 2)}\n`);
  return 0;
}

async function checkFile(file: string, options: ValidateOptions, fix: boolean, io: CommandIo): Promise<CheckedFile> {
  if (file === '-') {
    const source = decode(await readAll(io.stdin));
    return { file, source, report: validateDocsConfig(source, options) };
  }
  const path = resolve(io.cwd, file);
  let source = decode(await readFile(path));
  const files = await filesAround(dirname(path));
  const known = files ? { ...options, files } : options;
  if (fix) {
    const { text, applied } = applyFixes(source, known);
    if (applied > 0) await replaceFile(path, text);
    source = text;
  }
  return { file, source, report: validateDocsConfig(source, known) };
}

/** A byte order mark stays in the text, for the validator to report. @throws TypeError when the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

function parse(args: string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const option = /'(--?[^'\s]+)/.exec(message)?.[1];
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option) {
      throw new UsageError(
        unknown(
          'option',
          option,
          Object.keys(options).map((name) => `--${name}`),
        ),
      );
    }
    throw new UsageError(message.split('\n')[0]);
  }
}

function formatFrom(format = 'pretty'): 'pretty' | keyof typeof renderers {
  if (format === 'pretty' || Object.hasOwn(renderers, format)) return format as 'pretty' | keyof typeof renderers;
  throw new UsageError(`--format: ${unknown('format', format, ['pretty', ...Object.keys(renderers)])}`);
}

function severitiesFrom(settings: readonly string[]): Partial<Record<Code, Level>> {
  const severities: Partial<Record<Code, Level>> = {};
  for (const setting of settings) {
    const [code = '', level = '', ...rest] = setting.split('=');
    if (!isCode(code)) throw new UsageError(`--severity ${setting}: ${unknown('code', code, codes)}`);
    if (rest.length > 0 || !isLevel(level))
      throw new UsageError(`--severity ${setting}: write ${code}=error, ${code}=warning or ${code}=off.`);
    severities[code] = level;
  }
  return severities;
}

function isLevel(level: string): level is Level {
  return level === 'error' || level === 'warning' || level === 'off';
}

function unknown(kind: string, given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  return `There is no ${kind} ${JSON.stringify(given)}. ${near ? `Did you mean ${near}?` : `There are: ${known.join(', ')}.`}`;
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  EISDIR: 'This is a folder; name the file in it.',
  EACCES: 'The file may not be read or written.',
  EPERM: 'The file may not be read or written.',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'The file is not UTF-8; save it as UTF-8.',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return Object.hasOwn(reasons, code) ? (reasons[code] as string) : message;
}
