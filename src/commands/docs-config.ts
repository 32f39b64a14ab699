import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  type CheckedFile,
  type Code,
  codes,
  didYouMean,
  docsConfigJsonSchema,
  explain,
  type Format,
  formats,
  isCode,
  type ValidateOptions,
  validate,
} from '@user-group-gateway/docs-config';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { escapeControls } from '../terminal-text.ts';
import { findFiles, listFiles } from './find-files.ts';

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
  if (level === 'error' || level === 'warning' || level === 'off') return { ...others, [toCode(code)]: level };
  throw new InvalidArgumentError(`Write ${code}=error, ${code}=warning or ${code}=off.`);
}

function toCode(code: string): Code {
  if (isCode(code)) return code;
  throw new InvalidArgumentError(`Expected ${didYouMean(code, codes) ?? `one of: ${codes.join(', ')}`}.`);
}
