import { untilStopped } from '../../src/commands/stop-request.ts';

// A command that receives a signal as its work ends, and that keeps running, as with output that nobody reads.
process.exitCode = await untilStopped(async () => {
  process.kill(process.pid, 'SIGTERM');
  return 0;
});
setInterval(() => {}, 60_000);
