import { existsSync, fstatSync, readSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { escapeJson } from '../terminal-text.ts';
import { type OutputStreams, type Streams, UsageError } from './options.ts';
import { processIo } from './process-io.ts';

/** How often the line is rewritten, in milliseconds. */
const intervalMs = 200;

const barWidth = 24;

/** How far a command has come. */
export interface ProgressState {
  /** How much is done, in the unit of the progress. */
  readonly count: number;
  /** The part of the work that is done, from 0 to 1; unknown when the input has no known end. */
  readonly fraction: number | undefined;
}

/** The progress of a command on a terminal: one line, which is rewritten a few times a second. On anything else, nothing. */
export interface Progress {
  update(state: ProgressState): void;
  /** Removes the line, so that something else can be written. The next update writes it again. */
  clear(): void;
}

/** Opens the progress on a stream. @param unit what is counted, in the plural. */
export function openProgress(stream: Streams['stderr'], unit: string): Progress {
  if (!stream.isTTY) return { update() {}, clear() {} };
  const startedAt = performance.now();
  let writtenAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    update(state) {
      const now = performance.now();
      if (now - writtenAt < intervalMs) return;
      writtenAt = now;
      isShown = true;
      const text = describeProgress(state, unit, (now - startedAt) / 1_000);
      stream.write(`\r\u001b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`);
    },
    clear() {
      if (isShown) stream.write('\r\u001b[2K');
      isShown = false;
      writtenAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The line: a bar, the count, the rate and the time that remains; without a known end, the count and the rate. */
export function describeProgress({ count, fraction }: ProgressState, unit: string, seconds: number): string {
  const rate = seconds > 0 ? count / seconds : 0;
  const counted = `${thousands(count)} ${unit}  ${thousands(Math.round(rate))}/s`;
  if (fraction === undefined) return counted;
  const done = Math.min(1, Math.max(0, fraction));
  const filled = Math.floor(done * barWidth);
  const bar = `[${'#'.repeat(filled)}${' '.repeat(barWidth - filled)}] ${Math.floor(done * 100)} %`;
  return done > 0 ? `${bar}  ${counted}  ${clock((seconds * (1 - done)) / done)} left` : `${bar}  ${counted}`;
}

/** A number with separators, as texts have it. */
export const thousands = (count: number): string => count.toLocaleString('en-US');

/** The times that there are, with what happened then. */
export const describeTimes = (times: Readonly<Record<string, Date | null>>): string[] =>
  Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : []));

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const twoDigits = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(whole % 60)}` : `${minutes}:${twoDigits(whole % 60)}`;
}

/** Prints a result: as JSON on one line, or as text. @returns the exit status. */
export function printResult({ stdout }: Pick<Streams, 'stdout'>, asJson: boolean, members: unknown, text: string): number {
  stdout.write(`${asJson ? escapeJson(JSON.stringify(members)) : text}\n`);
  return 0;
}

/**
 * Whether the standard output (`>&-`) or error (`2>&-`) is closed. In its place Node.js opens the null device for reading and
 * writing, so that everything would seem to be written; a shell opens it for writing only.
 */
export function isClosed(fd: 1 | 2): boolean {
  if (!existsSync(devNull) || fstatSync(fd).rdev !== statSync(devNull).rdev) return false;
  try {
    readSync(fd, Buffer.alloc(1));
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes sure that the standard output, or error, is open, for what cannot be had again. Commands that are also run for their exit
 * status or their effect must not call this: see {@link isClosed}.
 *
 * @param output a stream that is not one of the process is open.
 * @param consequence what was not done, and what to do.
 * @throws UsageError
 */
export function assertOutput(output: unknown, consequence: string): void {
  if (output === processIo.stdout && isClosed(1)) throw new UsageError(`Standard output is closed. ${consequence}`);
  if (output === processIo.stderr && isClosed(2)) throw new UsageError(`Standard error is closed. ${consequence}`);
}

/** What is not done without an output, which would have a secret that is shown only once. */
export const secretNotIssued = 'Nothing was changed, because the secret is shown only there. Redirect it.';

/**
 * Prints a text with a secret that is shown only once. If it cannot be written, the secret is lost, which is said.
 *
 * @param describeLoss what is lost, for a reason, and what to do.
 * @returns the exit status.
 */
export async function printSecret(
  { stdout, stderr }: OutputStreams,
  text: string,
  describeLoss: (reason: string) => string,
): Promise<number> {
  const failure = await new Promise<Error | null | undefined>((resolve) => stdout.write(`${text}\n`, resolve));
  if (!failure) return 0;
  stderr.write(`${describeLoss(failure.message)}\n`);
  return 1;
}
