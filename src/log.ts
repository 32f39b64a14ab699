import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { PinoPretty } from 'pino-pretty';
import type { CompletedRequest } from './http/request.ts';
import type { Config } from './settings.ts';
import { escapeJson, escapeShownJson } from './terminal-text.ts';
import { redactTokens } from './tokens.ts';

/**
 * Opens the log on standard error; standard output is for results. As JSON, it never makes the process wait for its reader. Of a
 * request that fails only its id, trace, method and path are logged, and of an error its type, code, message and stack, so that
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

/**
 * Creates a function that logs completed requests, a line each. A line names the route and the operation, and neither the path
 * nor anything else that the client sent, the ids of request and trace aside.
 *
 * @param fraction of the requests that get a line, from 0 to 1.
 * @returns nothing when no request gets one.
 */
export function createRequestLog(log: Logger, fraction: number): ((completed: CompletedRequest) => void) | undefined {
  if (fraction === 0 || !log.isLevelEnabled('info')) return undefined;
  const write = (completed: CompletedRequest): void => {
    const { id, route, method, operation, status, durationMs, cost, errorCodes, traceId, headers, caller } = completed;
    log.info(
      {
        request: id,
        trace: traceId ?? (headers && traceIdOf(headers)),
        method,
        route: route?.path,
        operation: operation || undefined,
        status,
        durationMs: Math.round(durationMs * 1_000) / 1_000,
        cost,
        errors: errorCodes.length > 0 ? errorCodes : undefined,
        apiToken: caller.apiToken?.id,
      },
      'request',
    );
  };
  return fraction === 1 ? write : (completed) => void (Math.random() < fraction && write(completed));
}

/** The trace id of a request, from its header `traceparent` (W3C Trace Context); nothing if the header is absent or not valid. */
export function traceIdOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > maxTraceparentLength) return undefined;
  const [, version, traceId, parentId] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && traceparent.length !== 55)) return undefined;
  return /^0+$/.test(`${traceId ?? 0}`) || /^0+$/.test(`${parentId ?? 0}`) ? undefined : traceId;
}

/** The header has 55 characters; later versions may have more. */
const maxTraceparentLength = 256;
