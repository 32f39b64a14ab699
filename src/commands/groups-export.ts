import { once } from 'node:events';
import { existsSync, fstatSync, readSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Writable } from 'node:stream';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { escapeControls } from '../terminal-text.ts';
import { type FormatName, groupFormats } from '../user-groups/files/formats.ts';
import { exportUserGroups } from '../user-groups/statements/export.ts';
import { withExistingDatabase } from './context.ts';
import { assertValid, environmentOf, fileOf, formatFrom, type GroupsIo, openOutput, readArguments } from './groups-arguments.ts';
import { UsageError } from './options.ts';
import { openProgress, type Progress, thousands } from './progress.ts';
import type { FileDraft } from './replace-file.ts';
import { exitCodeOf, untilStopRequested } from './stop-request.ts';

interface ExportRequest {
  readonly format: FormatName;
  /** `null` means untagged groups; undefined those of every environment. */
  readonly environment: EnvironmentTag | null | undefined;
  /** The path of the file to write; standard output without one. */
  readonly output: string | undefined;
}

/**
 * `groups export`: writes user groups to a file or standard output. A reader that closes standard output early ends the export
 * without a message.
 *
 * @throws UsageError for invalid arguments, a closed standard output, or a file that cannot be written, before the database is
 *   opened.
 * @throws Error when the file cannot be written later; one that exists is unchanged then.
 */
export async function exportGroups(args: readonly string[], io: GroupsIo): Promise<number> {
  const request = readRequest(args);
  if (request.output === undefined && io.stdout === process.stdout) assertOutput();
  const draft = request.output === undefined ? undefined : await openOutput(request.output, 'Nothing was exported.');
  try {
    return await run(request, draft, io);
  } finally {
    await draft?.discard();
  }
}

function run({ output = '', ...request }: ExportRequest, draft: FileDraft | undefined, io: GroupsIo): Promise<number> {
  let stopped: string | undefined;
  void untilStopRequested().then((reason) => (stopped = reason));
  return withExistingDatabase(async ({ database, keys }) => {
    const progress = openProgress(io.stderr, 'groups');
    const write = (target: Writable) =>
      writeGroups({ pool: database.pool, keys }, request, target, progress, () => stopped !== undefined);
    if (!draft) {
      const count = await write(io.stdout);
      progress.clear();
      if (count === undefined) return 0; // the reader has closed the output
      io.stderr.write(`${stopped ? `Stopped by ${stopped}: the export is incomplete. ` : ''}Exported ${describe(count)}.\n`);
      return stopped ? exitCodeOf(stopped) : 0;
    }
    const fail = (error: unknown): never => {
      throw describeFailure(error, output);
    };
    try {
      const count = await write(draft.stream);
      progress.clear();
      if (stopped) {
        io.stdout.write(`Stopped by ${stopped}. ${escapeControls(output)} was not written.\n`);
        return exitCodeOf(stopped);
      }
      await draft.publish().catch(fail);
      io.stdout.write(
        `Exported ${describe(count ?? 0)} to ${escapeControls(output)}, which only its owner may read: it contains tokens.\n`,
      );
      return 0;
    } catch (error) {
      progress.clear();
      throw draft.stream.errored === error ? describeFailure(error, output) : error;
    }
  });
}

/** What a failure to write means to the operator. Without its cause, whose code could be one of a connection to the database. */
function describeFailure(error: unknown, output: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const remedy = 'Choose a folder that exists and is writable, or free space.';
  return new Error(`${output} cannot be written: ${message}. Nothing was exported. ${remedy}`);
}

const describe = (count: number): string => `${thousands(count)} ${count === 1 ? 'group' : 'groups'}`;

function readRequest(args: readonly string[]): ExportRequest {
  const read = readArguments(args, { format: 'value', environment: 'value', output: 'value' });
  read.problems.push(...read.words.map((word) => `Unexpected argument ${JSON.stringify(word)}.`));
  const output = fileOf(read, 'output');
  const request = { format: formatFrom(read, output, 'ndjson'), environment: environmentOf(read), output };
  assertValid(read, 'groups export');
  return request;
}

/**
 * In the place of a standard output that is closed (`>&-`) Node.js opens the null device, for reading and writing, where the
 * export would seem to succeed. A shell opens it for writing only, so that `>/dev/null` remains possible.
 *
 * @throws UsageError
 */
function assertOutput(): void {
  if (!existsSync(devNull) || fstatSync(process.stdout.fd).rdev !== statSync(devNull).rdev) return;
  try {
    readSync(process.stdout.fd, Buffer.alloc(1));
  } catch {
    return;
  }
  throw new UsageError('Standard output is closed. Nothing was exported. Redirect it, or name a file with --output.');
}

/** Writes groups until there are no more, or it is stopped. Returns how many; undefined when the reader of the target is gone. */
async function writeGroups(
  db: Parameters<typeof exportUserGroups>[0],
  { format, environment }: Omit<ExportRequest, 'output'>,
  target: Writable,
  progress: Progress,
  isStopped: () => boolean,
): Promise<number | undefined> {
  const { header, write } = groupFormats[format];
  const failed = new Promise<never>((_, reject) => target.once('error', reject));
  failed.catch(() => {});
  const send = async (text: string) => {
    if (!target.write(text)) await Promise.race([once(target, 'drain'), failed]);
  };
  let count = 0;
  try {
    if (header) await send(header);
    for await (const { groups, fraction } of exportUserGroups(db, environment)) {
      if (isStopped()) break;
      await send(groups.map(write).join(''));
      count += groups.length;
      progress.update({ count, fraction });
    }
    await Promise.race([new Promise<void>((resolve) => target.write('', () => resolve())), failed]);
    return count;
  } catch (error) {
    if ((error as { code?: string }).code === 'EPIPE') return undefined;
    throw error;
  }
}
