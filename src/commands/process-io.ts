import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';

/**
 * The streams and the environment of this process, for commands. A text is written as a whole, or it is an error: of a file that
 * takes only its beginning, as when a disk becomes full in the middle of it, Node.js' own streams report success.
 */
export const processIo = {
  /** Opened when it is first used. */
  get stdin() {
    return process.stdin;
  },
  stdout: writingWhole(process.stdout, 1, (error, done) => done(error)),
  stderr: writingWhole(process.stderr, 2, (error, done) => done(error)),
  /** The standard error, for the log: a line that cannot be written to a file is dropped, and the next one is tried. */
  log: writingWhole(process.stderr, 2, (_, done) => done()),
  get env() {
    return process.env;
  },
};

/**
 * The stream itself for a pipe or a terminal, which are sockets in Node.js.
 *
 * @param fd the descriptor that it writes to.
 * @param onFailure is called with the error of a text that cannot be written.
 */
function writingWhole(
  stream: Writable & { isTTY?: boolean; columns?: number },
  fd: number,
  onFailure: (error: Error, done: (error?: Error) => void) => void,
): typeof stream {
  if (stream instanceof Socket) return stream;
  return new Writable({
    write(chunk: Buffer, _, done) {
      try {
        writeFileSync(fd, chunk);
      } catch (error) {
        return onFailure(error as Error, done);
      }
      done();
    },
  });
}
