import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  type CheckedFile,
  type Code,
  codes,
  didYouMean,
  docsConfigJsonSchema,
  explain,
  type Format,
  fixedCodes,
  formats,
  isCode,
  type ValidateOptions,
  validate,
} from '@user-group-gateway/docs-config';
import { type Command, InvalidArgumentError, Option } from 'commander';
import picomatch from 'picomatch';
import { escapeControls } from '../terminal-text.ts';

type Severities = NonNullable<ValidateOptions['severities']>;

const withStrictness = (command: Command) =>
  command
    .option('--strict', 'make every warning an error')
    .option('--allow-nested-groups', 'accept groups inside the pages of a group');

/** `docs-config check|explain|schema`: needs neither database nor gateway. */
export function define(docsConfig: Command): void {
  docsConfig
    .usage('check FILE… | explain CODE | schema')
    .argument('[words...]')
    .action(([name, ...rest]: string[]) => {
      if (name === undefined) return docsConfig.help({ error: true });
      const meant = [didYouMean(name, ['check', 'explain', 'schema']) ?? `check ${name}`, ...rest].join(' ');
      return docsConfig.error(escapeControls(`Unknown command "${name}". Did you mean: docs-config ${meant}`));
    });
  withStrictness(docsConfig.command('check'))
    .description('check files. Exit status: 0 no errors, 1 errors, 2 a file cannot be read or the arguments are invalid')
    .argument('<file...>', 'a file, a folder (each mint.json in it and below), a glob in quotes, or - for standard input')
    .option<Severities>('--severity <code=level>', 'make a code an error, a warning, or off; may be repeated', addSeverity)
    .addOption(new Option('--format <format>', 'how to report').choices(Object.keys(formats)).default('pretty'))
    .action(async (files: string[], { format, severity: severities, ...options }) => {
      const { checked, problems } = await checkAll(files, { ...options, severities });
      process.stderr.write(problems.map((problem) => `${escapeControls(problem)}\n`).join(''));
      process.stdout.write(formats[format as Format](checked, process.stdout));
      process.exitCode = problems.length > 0 ? 2 : checked.every(({ report }) => report.valid) ? 0 : 1;
    });
  docsConfig
    .command('explain')
    .description('explain a code, with a wrong and a correct example')
    .argument('<code>', 'such as hex-color', toCode)
    .action((code: Code) => void process.stdout.write(explain(code)));
  withStrictness(docsConfig.command('schema'))
    .description('print the JSON Schema that agrees with check under the same options')
    .action((options) => void process.stdout.write(`${JSON.stringify(docsConfigJsonSchema(options), null, 2)}\n`));
}

/** Checks the files of all arguments, each once. */
async function checkAll(args: readonly string[], options: ValidateOptions) {
  const checked = new Map<string, CheckedFile>();
  const problems: string[] = [];
  for (const argument of args) {
    try {
      for (const file of await findFiles(argument)) {
        if (checked.has(resolve(file))) continue;
        const report =
          file === '-'
            ? validate(await buffer(process.stdin), options)
            : validate(await readFile(file), { ...options, fileName: basename(file), files: await listFiles(dirname(file)) });
        checked.set(resolve(file), { file, report });
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      problems.push(`${argument}: ${code === 'ENOENT' ? 'No such file.' : message}`);
    }
  }
  return { checked: [...checked.values()], problems };
}

function addSeverity(setting: string, others?: Severities): Severities {
  const [code = '', level] = setting.split('=');
  if (fixedCodes.includes(code)) throw new InvalidArgumentError(`${code} is always an error.`);
  if (level === 'error' || level === 'warning' || level === 'off') return { ...others, [toCode(code)]: level };
  throw new InvalidArgumentError(`Write ${code}=error, ${code}=warning or ${code}=off.`);
}

function toCode(code: string): Code {
  if (isCode(code)) return code;
  throw new InvalidArgumentError(`Expected ${didYouMean(code, codes) ?? `one of: ${codes.join(', ')}`}.`);
}

/** A folder with more files and folders is not a documentation site, but for example one where links to folders multiply. */
const maxEntries = 100_000;

/**
 * The files in a folder and below, as paths from there with forward slashes. Hidden entries and `node_modules` are skipped;
 * links are followed, except back to a folder on the way. A folder that may not be read counts as empty.
 *
 * @throws Error when there are too many entries.
 */
async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  let count = 0;
  async function visit(prefix: string, above: readonly string[]): Promise<void> {
    const { dev, ino } = await stat(join(folder, prefix));
    const id = `${dev}:${ino}`;
    if (above.includes(id)) return;
    const entries = await readdir(join(folder, prefix), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES') return [];
      throw error;
    });
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (++count > maxEntries) throw new Error(`There are more than ${maxEntries} files and folders in ${folder}.`);
      const path = prefix + entry.name;
      const kind = entry.isSymbolicLink() ? await stat(join(folder, path)).catch(() => undefined) : entry;
      if (kind?.isDirectory()) await visit(`${path}/`, [...above, id]);
      else if (kind?.isFile()) files.push(path);
    }
  }
  await visit('', []);
  return files;
}

/**
 * The files of an argument: the file of that name; for a folder, each `mint.json` in it and below; for a glob, what it matches.
 *
 * @throws Error when there is none.
 */
async function findFiles(argument: string): Promise<string[]> {
  const found = await stat(argument).catch(() => undefined);
  const wildcard = argument.search(/[*?[{]/);
  if (found ? !found.isDirectory() : wildcard < 0) return [argument];
  const folder = found ? argument : argument.slice(0, argument.lastIndexOf('/', wildcard) + 1);
  const isWanted = picomatch(found ? '**/mint.json' : argument.slice(folder.length), { posix: true, noextglob: true });
  const files = (await listFiles(folder || '.')).filter((file) => isWanted(file));
  if (files.length > 0) return files.map((file) => join(folder, file));
  throw new Error(found ? 'There is no mint.json in this folder or below.' : 'No file matches.');
}
