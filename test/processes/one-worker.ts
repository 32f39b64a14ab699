import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { untilStoppedByPrimary } from '../../src/commands/workers.ts';

// The smallest worker: listens until it is stopped. With the argument `exit` every other one exits after it has
// requested the listener, whose address Node.js looks up first. With the name of a signal each gets it when it is to stop, and
// does not handle it.
const stop = untilStoppedByPrimary();
const running = setInterval(() => {}, 60_000); // as a connection to a database keeps a worker running
const server = createServer().listen(0, '127.0.0.1');
if (process.argv[2] === 'exit' && (cluster.worker?.id ?? 0) % 2 === 1)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 200);
await stop;
const [, , signal = ''] = process.argv;
if (signal.startsWith('SIG')) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
server.close();
clearInterval(running);
