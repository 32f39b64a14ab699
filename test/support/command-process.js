// Runs commands of the compiled gateway one after the other: a start of its own would cost each a dozen times as much.
import { writeSync } from 'node:fs';

const binary = new URL('../../dist/main.js', import.meta.url);
let count = 0;

process.on('message', async ({ args, env, mark }) => {
  process.env = env;
  process.argv = [process.execPath, binary.pathname, ...args];
  process.exitCode = undefined;
  const before = listeners();
  count += 1;
  await import(`${binary}?${count}`); // runs it again; what it imports stays loaded
  for (const [emitter, event, kept] of before) {
    for (const listener of emitter.listeners(event)) if (!kept.includes(listener)) emitter.off(event, listener);
  }
  const code = process.exitCode ?? 0;
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
  for (const fd of [1, 2]) writeSync(fd, mark);
  process.send({ code });
});
// Ends with the process that started it.
process.on('disconnect', () => process.exit());

/** The listeners that a command adds, and leaves to the end of its process. */
function listeners() {
  const places = [
    ...[process.stdout, process.stderr].map((stream) => [stream, 'error']),
    ...['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'exit'].map((event) => [process, event]),
  ];
  return places.map(([emitter, event]) => [emitter, event, emitter.listeners(event)]);
}
