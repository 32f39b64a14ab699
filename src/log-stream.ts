import type { Writable } from 'node:stream';

/** How many bytes of the log wait for a reader. */
const maxWaitingBytes = 1_048_576;

/** Where the lines of a log go. */
export interface LogStream {
  write(line: string): void;
}

/**
 * Creates a stream of log lines that never makes the process wait: unread lines are buffered; when the buffer is full, further
 * ones are dropped, and their number is logged once the log is read again.
 *
 * @param output a pipe or a socket accepts what it can at once and keeps the rest; a file or a terminal accepts everything.
 * @param describe the line that reports how many were dropped.
 */
export function createLogStream(output: Writable, describe: (dropped: number) => string): LogStream {
  let dropped = 0;
  const report = (): void => {
    output.write(describe(dropped));
    dropped = 0;
  };
  return {
    write(line) {
      if (dropped > 0 || output.writableLength > maxWaitingBytes) {
        if (dropped === 0) output.once('drain', report);
        dropped += 1;
      } else {
        output.write(line);
      }
    },
  };
}
