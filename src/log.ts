import type { Writable } from 'node:stream';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { Config } from './settings.ts';
import { escapeJson, escapeShownJson } from './terminal-text.ts';
import { redactTokens } from './tokens.ts';

/**
 * Opens the log on standard error; standard output is for results. As JSON, it never makes the process wait for its reader. Of a
 * request that fails only its id, method and path are logged, and of an error its type, code, message and stack, so that
 * no secret is logged.
 *
 * @param output the standard error, for JSON.
 */
export function openLog({ logLevel, logFormat }: Config, output: Writable): Logger {
  const options = { ...logForm, level: logLevel };
  if (logFormat === 'json') return pino(options, createLogStream(output));
  const pretty = PinoPretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss' });
  return pino(options, { write: (line) => void pretty.write(escapeShownJson(line)) });
}

/** The form of the log's lines: the level by its name, the time in ISO 8601 and UTC, no process id and no host name. */
export const logForm = {
  base: null,
  formatters: { level: (level: string) => ({ level }) },
  timestamp: stdTimeFunctions.isoTime,
  serializers: { err: describeError },
};

/** The parts of an error that are safe to log. Others, such as a driver's `detail`, contain stored values. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  const { name, message, stack } = error;
  const { code } = error as { code?: unknown };
  // Prisma's messages may print the call with its values; the code, the database's own, says what is wrong.
  if (name.startsWith('PrismaClient')) return { type: name, code, stack: framesOf(stack) };
  return { type: name, code, message: redactTokens(message), stack: redactTokens(stack ?? '') };
}

const framesOf = (stack = ''): string =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');

/**
 * Logs when something that is tried again and again begins to fail, and when it works again; not each failure.
 *
 * @returns receives each outcome: the error, or nothing.
 */
export function logOutages(log: Logger, failing: string, recovered: string): (error?: unknown) => void {
  let isFailing = false;
  return (error) => {
    if (error !== undefined && !isFailing) log.warn({ err: error }, failing);
    if (error === undefined && isFailing) log.info(recovered);
    isFailing = error !== undefined;
  };
}

/** How many bytes of the log wait for a reader. */
const maxWaitingBytes = 1_048_576;

/**
 * Creates a stream of log lines that never makes the process wait: unread lines are buffered; when the buffer is full, further
 * ones are dropped, and their number is logged once the log is read again.
 *
 * @param output a pipe or a socket accepts what it can at once and keeps the rest; a file or a terminal accepts everything.
 */
function createLogStream(output: Writable): { write(line: string): void } {
  let dropped = 0;
  const report = (): void => {
    const msg = 'log lines were dropped because the log was not read fast enough';
    output.write(`${JSON.stringify({ level: 'warn', time: new Date(), dropped, msg })}\n`);
    dropped = 0;
  };
  return {
    write(line) {
      if (dropped > 0 || output.writableLength > maxWaitingBytes) {
        if (dropped === 0) output.once('drain', report);
        dropped += 1;
      } else {
        output.write(escapeJson(line));
      }
    },
  };
}
