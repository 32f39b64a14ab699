import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { type Draft, openDraft } from '../durable-file.ts';
import { UsageError } from '../errors.ts';
import { escapeControls } from '../terminal-text.ts';
import {
  exportGroups,
  type FileFormat,
  fileFields,
  fileFormats,
  importLimits,
  type RejectedLine,
  readGroups,
} from '../user-groups/files.ts';
import { type ImportSummary, importUserGroups, onExistingChoices } from '../user-groups/import.ts';
import { type CommandContext, ownContext, withDatabase } from './context.ts';
import { environmentOption, environmentTagOf } from './options.ts';
import { percent, showProgress, thousands } from './output.ts';

/** `groups import|export`: moves user groups from and to files. Can be run while the server runs. */
export function define(groups: Command): void {
  const formatOption = (fallback: string) =>
    new Option('--format <format>', `default: by the end of the file name, .ndjson, .jsonl or .csv; ${fallback}`).choices(
      fileFormats,
    );
  groups
    .command('import')
    .description('read user groups from a file: one JSON object a line, or CSV whose first line names the columns')
    .argument('<file>', 'the file, or - for standard input')
    .addOption(formatOption('ndjson for standard input'))
    .addOption(environmentOption('the environment of lines that name none'))
    .addOption(
      new Option(
        '--on-existing <action>',
        'what to do with a group that exists: leave it, change the fields that are given, or reject the line',
      )
        .choices(onExistingChoices)
        .default('skip'),
    )
    .option('--dry-run', 'only check every line')
    .option('--report <file>', 'write all rejected lines to a file, one JSON object a line with line and reason')
    .addHelpText(
      'after',
      `\nFields: ${fileFields.join(', ')}.\nA group keeps the token that is given, and gets a new one otherwise.\n` +
        'Exit status: 0 done, 1 lines were rejected or it failed, 2 invalid arguments, 129, 130 or 143 stopped by a signal.',
    )
    .action(importFile);
  groups
    .command('export')
    .description('write all groups, or those of one environment, as import takes them back')
    .addOption(formatOption('ndjson without a file'))
    .addOption(environmentOption('only the groups of one environment'))
    .option('--output <file>', 'the file, which only its owner may read: it contains tokens', '-')
    .action(exportFile);
}

interface ImportOptions {
  format?: FileFormat;
  environment?: string;
  onExisting: (typeof onExistingChoices)[number];
  dryRun?: boolean;
  report?: string;
}

async function importFile(file: string, { format = formatOf(file), report: path, ...options }: ImportOptions): Promise<void> {
  if (path !== undefined && resolve(path) === resolve(file))
    throw new UsageError('--report must name another file than the one to import.');
  const report = path === undefined ? undefined : openOutput(path);
  try {
    const { stream, size } = await openInput(file);
    await withDatabase(options.dryRun ? 'read' : 'change', (command) =>
      importFrom(stream, size, report, command, { format, ...options }),
    ).finally(() => stream.destroy());
  } finally {
    report?.discard();
  }
}

async function importFrom(
  stream: Readable,
  size: number,
  report: Draft | undefined,
  command: CommandContext,
  { format, environment, onExisting, dryRun = false }: ImportOptions & { format: FileFormat },
): Promise<void> {
  const signal = command.stop;
  const print = (text: string) => {
    showProgress('');
    process.stdout.write(`${escapeControls(text)}\n`);
  };
  let bytes = 0;
  async function* chunks() {
    for await (const chunk of addAbortSignal(signal, stream)) {
      bytes += chunk.length;
      yield chunk as Buffer;
    }
  }
  let summary: ImportSummary = { lines: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, lastLine: 0 };
  const onBatch = async (soFar: ImportSummary, rejected: readonly RejectedLine[]) => {
    const printed = rejected.slice(0, Math.max(0, importLimits.maxPrintedRejections - summary.rejected));
    for (const { line, reason } of printed) print(`line ${line}: ${reason}`);
    report?.write(rejected.map((each) => `${JSON.stringify(each)}\n`).join(''));
    summary = soFar;
    showProgress(`${thousands(summary.lines)} lines${percent(bytes, size)}`);
  };
  let failure: unknown;
  try {
    await importUserGroups(
      ownContext(command),
      readGroups(chunks(), format, environment === undefined ? undefined : environmentTagOf(environment)),
      {
        onExisting,
        dryRun,
        signal,
        onBatch,
      },
    );
  } catch (error) {
    failure = signal.aborted ? undefined : error;
  }
  report?.publish();
  const unprinted = summary.rejected - importLimits.maxPrintedRejections;
  if (unprinted > 0) print(`${thousands(unprinted)} more lines were rejected; --report FILE writes all.`);
  if (failure instanceof Error && summary.lines === 0)
    throw new Error(`${failure.message} Nothing was imported.`, { cause: failure });
  const early = signal.aborted
    ? (signal.reason as Error).message.replace(/\.$/, '')
    : failure === undefined
      ? undefined
      : 'Failed';
  const again = `It is safe to run the same command again${onExisting === 'fail' ? ', with --on-existing skip' : ''}.`;
  const counts = describeSummary(summary, dryRun, onExisting === 'update');
  print(early === undefined ? counts : `${early} after line ${summary.lastLine}. ${counts} ${again}`);
  if (failure !== undefined) throw failure;
  if (summary.rejected > 0) process.exitCode = 1;
}

function describeSummary(
  { lines, created, updated, unchanged, rejected }: ImportSummary,
  dryRun: boolean,
  mayUpdate: boolean,
): string {
  const counts = [
    `${thousands(lines)} ${lines === 1 ? 'line' : 'lines'}`,
    `${thousands(created)} created`,
    ...(mayUpdate ? [`${thousands(updated)} ${dryRun ? 'exist and may be updated' : 'updated'}`] : []),
    `${thousands(unchanged)} unchanged`,
    `${thousands(rejected)} rejected`,
  ];
  return `${dryRun ? 'Dry run, nothing was written: ' : ''}${counts.join(', ')}.`;
}

interface ExportOptions {
  format?: FileFormat;
  environment?: string;
  output: string;
}

async function exportFile({ output, format = formatOf(output), environment }: ExportOptions): Promise<void> {
  const draft = output === '-' ? undefined : openOutput(output);
  try {
    await withDatabase('read', async ({ database, keys, stop }) => {
      const stopped = new Promise<never>((_, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
      stopped.catch(() => {});
      let count = 0;
      for await (const page of exportGroups(
        database,
        keys,
        format,
        environment === undefined ? undefined : environmentTagOf(environment),
      )) {
        await Promise.race([draft ? draft.write(page.text) : printed(page.text), stopped]);
        count += page.count;
        showProgress(`${thousands(count)} groups`);
      }
      showProgress('');
      draft?.publish();
      const exported = `Exported ${thousands(count)} ${count === 1 ? 'group' : 'groups'}`;
      if (draft)
        process.stdout.write(`${exported} to ${escapeControls(output)}, which only its owner may read: it contains tokens.\n`);
      else process.stderr.write(`${exported}.\n`);
    });
  } finally {
    draft?.discard();
  }
}

/** Resolves when the reader of the output has taken a text. */
const printed = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(new Error(`The export is incomplete: ${error.message}.`));
      else resolve();
    });
  });

function formatOf(file: string): FileFormat {
  const [, extension = file === '-' ? 'ndjson' : undefined] = /\.(csv|ndjson|jsonl)$/i.exec(file) ?? [];
  if (extension) return extension.toLowerCase() === 'csv' ? 'csv' : 'ndjson';
  throw new UsageError(`--format is required: ${JSON.stringify(file)} does not end with .ndjson, .jsonl or .csv.`);
}

/** What is read, and its size; 0 if that is not known. */
async function openInput(file: string): Promise<{ stream: Readable; size: number }> {
  if (file === '-') return { stream: process.stdin, size: 0 };
  try {
    const handle = await open(file);
    return { stream: handle.createReadStream(), size: (await handle.stat()).size };
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}. Nothing was imported.`);
  }
}

/** Opens a draft of a file that only its owner may read. */
function openOutput(path: string): Draft {
  try {
    return openDraft(path);
  } catch (error) {
    throw new UsageError(
      `${path} cannot be written: ${(error as Error).message}. Choose a file in a folder that exists and is writable.`,
    );
  }
}
