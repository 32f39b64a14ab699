import { randomUUID } from 'node:crypto';
import { type BigIntStats, statSync } from 'node:fs';
import { recordEvent } from '../audit-log/statements/author.ts';
import { type Database, readClock } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { escapeControls } from '../terminal-text.ts';
import type { FormatName } from '../user-groups/files/formats.ts';
import { readGroupLines } from '../user-groups/files/formats.ts';
import { type ImportOptions, type ImportSummary, importUserGroups, type ReadLine } from '../user-groups/import.ts';
import { importNames } from '../user-groups/import-lines.ts';
import { ownAuthor, withDatabaseToRead, withExistingDatabase } from './context.ts';
import { fileOf, formatFrom, groupsHelp, openOutput } from './groups-arguments.ts';
import { collectRejections, type Report } from './import-rejections.ts';
import { chunksOf, openSource, type Source } from './import-source.ts';
import { assertValid, choice, environmentOf, readOptions, type Streams, suggest, unexpected } from './options.ts';
import { openProgress, thousands } from './output.ts';
import type { StopRequest } from './stop-request.ts';

interface ImportRequest extends Pick<ImportOptions, 'onExisting' | 'dryRun'> {
  /** The path, or `-` for standard input. */
  readonly file: string;
  readonly format: FormatName;
  /** The path of a file for all rejected lines. */
  readonly report: string | undefined;
  /** The environment of lines that name none; `null` means untagged. */
  readonly environment: EnvironmentTag | null | undefined;
}

/**
 * `groups import`: reads user groups from a file or standard input, and prints rejected lines and a summary.
 *
 * @throws UsageError for invalid arguments, a file that cannot be read, or a report that cannot be written, before the database
 *   is opened.
 */
export async function importGroups(args: readonly string[], io: Streams): Promise<number> {
  const request = readRequest(args);
  const source = await openSource(request.file, io.stdin);
  let report: Report | undefined;
  try {
    report = await openReport(request.report);
    const withDatabase = request.dryRun ? withDatabaseToRead : withExistingDatabase;
    return await withDatabase(({ database, keys, stop }) => run({ ...request, source, report, stop }, { ...database, keys }, io));
  } finally {
    source.chunks.destroy();
    await report?.draft.discard();
  }
}

function readRequest(args: readonly string[]): ImportRequest {
  const read = readOptions(args, {
    format: 'value',
    environment: 'value',
    'on-existing': 'value',
    'dry-run': 'flag',
    report: 'value',
  });
  const [file, ...others] = read.words;
  if (file === undefined) read.problems.push('Name the file to import, or - for standard input.');
  read.problems.push(...unexpected(others));
  const request = {
    file: file ?? '-',
    format: formatFrom(read, file === '-' ? undefined : file),
    environment: environmentOf(read),
    onExisting: choice(read, 'on-existing', ['skip', 'update', 'fail'] as const) ?? 'skip',
    dryRun: read.given.has('dry-run'),
    report: fileOf(read, 'report'),
  };
  const input = request.file === '-' ? '/dev/stdin' : request.file;
  if (request.report !== undefined && isSameFile(input, request.report))
    read.problems.push('--report must name another file than the one to import.');
  assertValid(read.problems, 'groups import; nothing was done', groupsHelp);
  return request;
}

/** Whether two paths name one file. False for one that cannot be opened: that is reported when it is. */
function isSameFile(one: string, other: string): boolean {
  try {
    const [a, b] = [one, other].map((path) => statSync(path, { bigint: true })) as [BigIntStats, BigIntStats];
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

async function openReport(path: string | undefined): Promise<Report | undefined> {
  return path === undefined ? undefined : { path, draft: await openOutput(path, 'Nothing was imported.') };
}

type Db = Pick<Database, 'pool' | 'transaction' | 'prisma'> & { readonly keys: KeyRing };

/** What is imported how, with the files that are open. */
interface OpenImport extends Omit<ImportRequest, 'report'> {
  readonly source: Source;
  readonly report: Report | undefined;
  readonly stop: StopRequest;
}

async function run(
  { source, stop: { signal, reason }, ...request }: OpenImport,
  db: Db,
  { stdout, stderr }: Streams,
): Promise<number> {
  const progress = openProgress(stderr, 'lines');
  const print = (text: string) => {
    progress.clear();
    stdout.write(`${escapeControls(text)}\n`);
  };
  signal.addEventListener('abort', () => source.chunks.destroy());

  const author = ownAuthor();
  const importId = randomUUID();
  const startedAt = await readClock(db.prisma);
  let latest: Readonly<ImportSummary> | undefined;
  let bytesRead = 0;
  const rejections = collectRejections(print, request.report);
  const onIgnored = (name: string | undefined) => print(name === undefined ? 'Further fields are ignored, too.' : ignored(name));
  let openEnd: number | undefined;
  const onOpenEnd = (line: number) => {
    openEnd = line;
  };
  const read = readGroupLines(chunksOf(source), { ...request, onIgnored, onOpenEnd });
  const fileBytes = Number(source.file?.stats.size ?? 0);
  const lines = untilStopped(read, signal, (bytes) => {
    bytesRead += bytes;
  });
  try {
    latest = await importUserGroups(db, lines, {
      onExisting: request.onExisting,
      dryRun: request.dryRun,
      inEachTransaction: (sql, { created, updated }) =>
        recordEvent(sql, author, 'user_group.imported', {
          import: { from: null, to: importId },
          startedAt: { from: null, to: startedAt.toISOString() },
          created: { from: null, to: created },
          updated: { from: null, to: updated },
        }),
      onRejected: rejections.add,
      onProgress: (summary) => {
        latest = summary;
        progress.update({ count: summary.lines, fraction: fileBytes > 0 ? bytesRead / fileBytes : undefined });
      },
    });
  } catch (error) {
    await rejections.close();
    print(`Failed after line ${latest?.lastLine ?? 0}. ${describe(latest, request)} ${runAgain(request)}`);
    throw error;
  }
  const isReported = await rejections.close();
  print(
    signal.aborted
      ? `Stopped by ${reason()} after line ${latest.lastLine}. ${describe(latest, request)} ${runAgain(request)}`
      : describe(latest, request),
  );
  if (latest.untaggedByDefault > 0) {
    print(
      `Of these groups ${thousands(latest.untaggedByDefault)} are untagged, because neither their lines nor --environment name an environment.`,
    );
  }
  if (openEnd !== undefined)
    print(`Line ${openEnd}, the last one, has no line break at its end: if the file is not complete, it was cut off there.`);
  return latest.rejected > 0 || !isReported ? 1 : 0;
}

function ignored(name: string): string {
  return `The field "${name}" is not one of a user group, and is ignored.${suggest(name, importNames)}`;
}

/** The lines until it is to stop, when the input ends in any way. */
async function* untilStopped(
  chunks: AsyncIterable<readonly ReadLine[]>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly ReadLine[]> {
  try {
    for await (const lines of chunks) {
      if (signal.aborted) return;
      onBytes(lines.reduce((sum, { bytes }) => sum + bytes, 0));
      yield lines;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function describe(
  summary: Readonly<ImportSummary> | undefined,
  { dryRun, onExisting }: Pick<ImportOptions, 'dryRun' | 'onExisting'>,
): string {
  const { lines = 0, created = 0, updated = 0, tokensReplaced: replaced = 0, unchanged = 0, rejected = 0 } = summary ?? {};
  const counts = [
    countLines(lines),
    `${thousands(created)} created`,
    ...(onExisting === 'update' ? [`${thousands(updated)} ${dryRun ? 'exist and may be updated' : 'updated'}`] : []),
    ...(replaced > 0
      ? [`${thousands(replaced)} ${replaced === 1 ? 'token' : 'tokens'} ${dryRun ? 'would be ' : ''}replaced`]
      : []),
    ...(onExisting === 'fail' ? [] : [`${thousands(unchanged)} unchanged`]),
    `${thousands(rejected)} rejected`,
  ];
  return `${dryRun ? 'Dry run, nothing was written: ' : ''}${counts.join(', ')}.`;
}

const countLines = (count: number): string => `${thousands(count)} ${count === 1 ? 'line' : 'lines'}`;

const runAgain = ({ dryRun, onExisting }: Pick<ImportOptions, 'dryRun' | 'onExisting'>): string =>
  dryRun
    ? ''
    : onExisting === 'update'
      ? 'What was written stays. The same command, run again, replaces what others have changed since.'
      : `What was written stays. It is safe to run the same command again${onExisting === 'fail' ? ', with --on-existing skip' : ''}.`;
