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
  stdout: writingWhole(process.stdout, 1),
  stderr: writingWhole(process.stderr, 2),
  get env() {
    return process.env;
  },
};

/** The stream itself for a pipe or a terminal, which are sockets in Node.js. @param fd the descriptor that it writes to. */
function writingWhole(stream: Writable & { isTTY?: boolean; columns?: number }, fd: number): typeof stream {
  if (stream instanceof Socket) return stream;
  return new Writable({
    write(chunk: Buffer, _, done) {
      try {
        writeFileSync(fd, chunk);
      } catch (error) {
        return done(error as Error);
      }
      done();
    },
  });
}
