/**
 * Handles output that cannot be written, as when the program that reads it has exited (`… | head -1`) or the disk is full.
 * Node.js would end the process with a stack trace.
 *
 * A command runs to its end, and its exit status is at least 1, because its result is incomplete. A server keeps running: it does
 * not need a reader of its output.
 */
export function handleLostOutput(isServer: boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isServer || error.code !== 'EPIPE') process.stderr.write(`Cannot write to standard output: ${error.message}\n`);
    if (!isServer) process.once('exit', () => (process.exitCode ||= 1));
  });
  process.stderr.on('error', () => {}); // nothing is left to report it on
}

/** How long a server that has stopped waits for the reader of its output. */
const readerTimeoutMs = 2_000;

/** Ends a server that has stopped even if the rest of its output is not being read, which Node.js would wait for. */
export function endWithoutReader(): void {
  setTimeout(() => process.exit(), readerTimeoutMs).unref();
}
