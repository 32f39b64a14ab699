import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { escapeControls } from '../terminal-text.ts';
import { type FormatName, groupFormats } from '../user-groups/files/formats.ts';
import { exportUserGroups } from '../user-groups/statements/export.ts';
import { withDatabaseToRead } from './context.ts';
import { fileOf, formatFrom, groupsHelp, openOutput } from './groups-arguments.ts';
import { assertValid, environmentOf, type OutputStreams, readOnlyOptions } from './options.ts';
import { assertOutput, openProgress, type Progress, thousands } from './output.ts';
import type { FileDraft } from './replace-file.ts';

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
export async function exportGroups(args: readonly string[], io: OutputStreams): Promise<number> {
  const request = readRequest(args);
  if (request.output === undefined) assertOutput(io.stdout, 'Nothing was exported. Redirect it, or name a file with --output.');
  const draft = request.output === undefined ? undefined : await openOutput(request.output, 'Nothing was exported.');
  try {
    return await run(request, draft, io);
  } finally {
    await draft?.discard();
  }
}

function run({ output = '', ...request }: ExportRequest, draft: FileDraft | undefined, io: OutputStreams): Promise<number> {
  return withDatabaseToRead(async ({ database, keys, stop: { signal, reason } }) => {
    const progress = openProgress(io.stderr, 'groups');
    const write = (target: Writable) => writeGroups({ pool: database.pool, keys }, request, target, progress, signal);
    if (!draft) {
      let outputError: unknown;
      io.stdout.once('error', (error) => (outputError = error));
      const count = await write(io.stdout).catch((error: NodeJS.ErrnoException) => {
        // The reader has closed the output. A connection to the database may fail with the same code.
        if (error.code === 'EPIPE' && error === outputError) return undefined;
        throw error;
      });
      progress.clear();
      if (count === undefined) return 0;
      const start = signal.aborted ? `Stopped by ${reason()}: the export is incomplete. ` : '';
      io.stderr.write(`${start}Exported ${describe(count)}.\n`);
      return 0;
    }
    const fail = (error: unknown): never => {
      throw describeFailure(error, output);
    };
    try {
      const count = await write(draft.stream);
      progress.clear();
      if (signal.aborted) {
        io.stdout.write(`Stopped by ${reason()}. ${escapeControls(output)} was not written.\n`);
      } else {
        await draft.publish().catch(fail);
        io.stdout.write(
          `Exported ${describe(count)} to ${escapeControls(output)}, which only its owner may read: it contains tokens.\n`,
        );
      }
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
  const read = readOnlyOptions(args, { format: 'value', environment: 'value', output: 'value' });
  const output = read.given.get('output')?.[0] === '-' ? undefined : fileOf(read, 'output');
  const request = { format: formatFrom(read, output), environment: environmentOf(read), output };
  assertValid(read.problems, 'groups export; nothing was done', groupsHelp);
  return request;
}

/** Writes groups until there are no more, or it is stopped. Returns how many. @throws the error of the target, if it has one. */
async function writeGroups(
  db: Parameters<typeof exportUserGroups>[0],
  { format, environment }: Omit<ExportRequest, 'output'>,
  target: Writable,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { header, write } = groupFormats[format];
  const failed = new Promise<never>((_, reject) => target.once('error', reject));
  failed.catch(() => {});
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  const send = async (text: string) => {
    if (!target.write(text)) await Promise.race([once(target, 'drain'), failed, stopped]);
  };
  let count = 0;
  if (header) await send(header);
  for await (const { groups, fraction } of exportUserGroups(db, environment)) {
    if (signal.aborted) break;
    await send(groups.map(write).join(''));
    count += groups.length;
    progress.update({ count, fraction });
  }
  await Promise.race([new Promise<void>((resolve) => target.write('', () => resolve())), failed, stopped]);
  return count;
}
