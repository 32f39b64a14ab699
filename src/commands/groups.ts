import { realpathSync, statSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { type Draft, openDraft } from '../durable-file.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
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
import { type CommandContext, ownContext, withDatabaseToRead, withExistingDatabase } from './context.ts';
import {
  assertValid,
  choice,
  environmentOf,
  type OutputStreams,
  type ReadOptions,
  readOnlyOptions,
  readOptions,
  runAction,
  type Streams,
  UsageError,
  unexpected,
} from './options.ts';
import { assertOutput, openProgress, thousands } from './output.ts';

const { maxPrintedRejections } = importLimits;

const help = `Usage:
  user-group-gateway groups import FILE [--format ndjson|csv] [--environment Customer|Testing|none]
                                        [--on-existing skip|update|fail] [--dry-run] [--report FILE]
  user-group-gateway groups export [--format ndjson|csv] [--environment Customer|Testing|none] [--output FILE]

import reads user groups from FILE, or from standard input for -: one JSON object a line, or CSV whose first line names the columns.
Fields: ${fileFields.join(', ')}.
A group keeps the token that is given, and gets a new one otherwise. Rejected lines are printed; all others are imported.
  --format       default: by the end of the file name, .ndjson, .jsonl or .csv; ndjson for standard input
  --environment  the environment of lines that name none; none means untagged. Required unless each line has the field
  --on-existing  what to do with a group that exists: skip leaves it as it is (default), update changes the fields that are given,
                 fail rejects the line
  --dry-run      only check every line
  --report       write all rejected lines to FILE, one JSON object a line with line and reason

export writes all groups, or those of one environment, as import takes them back. It contains tokens: a file gets the mode 0600.
  --format       default: by the end of the file name; ndjson without a file
  --output       the file; without it, or for -, standard output

Exit status: 0 done, 1 lines were rejected or it failed, 2 the arguments are invalid or a file cannot be opened,
129, 130 or 143 stopped by SIGHUP, SIGINT or SIGTERM.
`;

/**
 * `groups import|export`: moves user groups from and to files. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export const groups = (args: string[], io: Streams): Promise<number> =>
  runAction('groups', help, { import: runImport, export: runExport }, args, io);

async function runImport(args: readonly string[], io: Streams): Promise<number> {
  const kinds = { format: 'value', environment: 'value', 'on-existing': 'value', 'dry-run': 'flag', report: 'value' } as const;
  const read = readOptions(args, kinds);
  const [file, ...others] = read.words;
  if (file === undefined) read.problems.push('Name the file to import, or - for standard input.');
  read.problems.push(...unexpected(others));
  const request = {
    format: formatOf(read, file === '-' ? undefined : file),
    environment: environmentOf(read),
    onExisting: choice(read, 'on-existing', onExistingChoices) ?? 'skip',
    dryRun: read.given.has('dry-run'),
  };
  const [reportPath] = read.given.get('report') ?? [];
  if (file !== undefined && reportPath !== undefined && (await isSameFile(file, reportPath)))
    read.problems.push('--report must name another file than the one to import.');
  assertValid(read.problems, 'groups import; nothing was done', help);

  const input = await openInput(file as string, io.stdin);
  let report: Draft | undefined;
  try {
    report = reportPath === undefined ? undefined : openOutput(reportPath, 'Nothing was imported.');
    const withDatabase = request.dryRun ? withDatabaseToRead : withExistingDatabase;
    return await withDatabase((command) => importFrom(input, report, command, request, io));
  } finally {
    input.stream.destroy();
    report?.discard();
  }
}

interface ImportRequest {
  readonly format: FileFormat;
  readonly environment: EnvironmentTag | null | undefined;
  readonly onExisting: (typeof onExistingChoices)[number];
  readonly dryRun: boolean;
}

async function importFrom(
  { stream, size }: Input,
  report: Draft | undefined,
  command: CommandContext,
  request: ImportRequest,
  { stdout, stderr }: Streams,
): Promise<number> {
  const { format, environment, onExisting, dryRun } = request;
  const { signal, reason } = command.stop;
  const progress = openProgress(stderr, 'lines');
  const print = (text: string) => {
    progress.clear();
    stdout.write(`${escapeControls(text)}\n`);
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
    const printed = rejected.slice(0, Math.max(0, maxPrintedRejections - summary.rejected));
    for (const { line, reason } of printed) print(`line ${line}: ${reason}`);
    report?.write(rejected.map((each) => `${JSON.stringify(each)}\n`).join(''));
    summary = soFar;
    progress.update({ count: summary.lines, fraction: size ? bytes / size : undefined });
  };
  let failure: unknown;
  try {
    const lines = readGroups(chunks(), format, environment);
    await importUserGroups(ownContext(command), lines, { onExisting, dryRun, signal, onBatch });
  } catch (error) {
    failure = signal.aborted ? undefined : error;
  }
  progress.clear();
  report?.publish();
  const unprinted = summary.rejected - maxPrintedRejections;
  if (unprinted > 0) print(`${thousands(unprinted)} more lines were rejected; --report FILE writes all.`);
  if (failure instanceof Error && summary.lines === 0)
    throw new Error(`${failure.message} Nothing was imported.`, { cause: failure });
  const early = signal.aborted ? `Stopped by ${reason()}` : failure === undefined ? undefined : 'Failed';
  const again = `It is safe to run the same command again${onExisting === 'fail' ? ', with --on-existing skip' : ''}.`;
  const counts = describeSummary(summary, request);
  print(early === undefined ? counts : `${early} after line ${summary.lastLine}. ${counts} ${again}`);
  if (failure !== undefined) throw failure;
  return summary.rejected > 0 ? 1 : 0;
}

function describeSummary({ lines, created, updated, unchanged, rejected }: ImportSummary, { dryRun, onExisting }: ImportRequest) {
  const counts = [
    `${thousands(lines)} ${lines === 1 ? 'line' : 'lines'}`,
    `${thousands(created)} created`,
    ...(onExisting === 'update' ? [`${thousands(updated)} ${dryRun ? 'exist and may be updated' : 'updated'}`] : []),
    `${thousands(unchanged)} unchanged`,
    `${thousands(rejected)} rejected`,
  ];
  return `${dryRun ? 'Dry run, nothing was written: ' : ''}${counts.join(', ')}.`;
}

async function runExport(args: readonly string[], io: OutputStreams): Promise<number> {
  const read = readOnlyOptions(args, { format: 'value', environment: 'value', output: 'value' });
  const [given] = read.given.get('output') ?? [];
  const path = given === '-' ? undefined : given;
  const request = { format: formatOf(read, path), environment: environmentOf(read), path };
  assertValid(read.problems, 'groups export; nothing was done', help);
  if (path === undefined) assertOutput(io.stdout, 'Nothing was exported. Redirect it, or name a file with --output.');
  const draft = path === undefined ? undefined : openOutput(path, 'Nothing was exported.');
  try {
    return await withDatabaseToRead((command) => exportTo(draft, command, request, io));
  } finally {
    draft?.discard();
  }
}

interface ExportRequest {
  readonly format: FileFormat;
  readonly environment: EnvironmentTag | null | undefined;
  readonly path: string | undefined;
}

async function exportTo(
  draft: Draft | undefined,
  { database, keys, stop: { signal, reason } }: CommandContext,
  { format, environment, path = '' }: ExportRequest,
  { stdout, stderr }: OutputStreams,
): Promise<number> {
  const progress = openProgress(stderr, 'groups');
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const print = (text: string) =>
    new Promise<void>((resolve, reject) => stdout.write(text, (error) => (error ? reject(outputFailure(error)) : resolve())));
  let count = 0;
  try {
    for await (const page of exportGroups(database, keys, format, environment)) {
      await (draft ? draft.write(page.text) : Promise.race([print(page.text), stopped]));
      if (signal.aborted) break;
      count += page.count;
      progress.update({ count, fraction: undefined });
    }
  } finally {
    progress.clear();
  }
  const exported = `Exported ${thousands(count)} ${count === 1 ? 'group' : 'groups'}`;
  const start = signal.aborted ? `Stopped by ${reason()}: the export is incomplete. ` : '';
  if (!draft) stderr.write(`${start}${exported}.\n`);
  else if (signal.aborted) stdout.write(`Stopped by ${reason()}. ${escapeControls(path)} was not written.\n`);
  else {
    draft.publish();
    stdout.write(`${exported} to ${escapeControls(path)}, which only its owner may read: it contains tokens.\n`);
  }
  return 0;
}

/** Without the code of the error, which could be one of the database. */
const outputFailure = ({ message }: Error): Error => new Error(`The export is incomplete: ${message}.`);

/** The option, else by the end of the file name; NDJSON without a file. */
function formatOf(read: ReadOptions, file: string | undefined): FileFormat {
  const given = choice(read, 'format', fileFormats);
  if (given || file === undefined || read.given.has('format')) return given ?? 'ndjson';
  const [, extension = ''] = /\.(csv|ndjson|jsonl)$/i.exec(file) ?? [];
  if (extension === '')
    read.problems.push(`--format is required: ${JSON.stringify(file)} does not end with .ndjson, .jsonl or .csv.`);
  return extension.toLowerCase() === 'csv' ? 'csv' : 'ndjson';
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => undefined)));
  return a !== undefined && a === b;
}

/** What is read, and its size if that is known. */
interface Input {
  readonly stream: Readable;
  readonly size?: number;
}

async function openInput(file: string, stdin: Readable): Promise<Input> {
  if (file === '-') return { stream: stdin };
  try {
    const handle = await open(file);
    return { stream: handle.createReadStream(), size: (await handle.stat()).size };
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${(error as Error).message}. Nothing was imported.`);
  }
}

/**
 * Opens a draft of a file.
 *
 * @param consequence what was not done, as a sentence.
 */
function openOutput(path: string, consequence: string): Draft {
  const failure = (error: unknown) => `${path} cannot be written: ${(error as Error).message}.`;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      throw new Error(failure(error)); // without its code, which could be one of the database
    }
  };
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === false) throw new Error('it is not a regular file');
    const draft = openDraft(found ? realpathSync(path) : path);
    return { ...draft, write: (text) => attempt(() => draft.write(text)), publish: () => attempt(draft.publish) };
  } catch (error) {
    throw new UsageError(`${failure(error)} ${consequence} Choose another file, in a folder that exists and is writable.`);
  }
}
