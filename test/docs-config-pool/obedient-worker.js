// A worker that does what its job says, for the tests of the pool.
import { parentPort } from 'node:worker_threads';

const jobs = {
  echo: (text) => parentPort.postMessage(text),
  hang: () => {
    for (;;);
  },
  exit: () => process.exit(3),
  throw: () => {
    throw new Error('broken');
  },
  // Replies only once the shared flag is set.
  wait: (flag) => {
    Atomics.wait(flag, 0, 0);
    parentPort.postMessage('waited');
  },
  // Says that it was run.
  mark: (flag) => {
    Atomics.store(flag, 0, 1);
    parentPort.postMessage('marked');
  },
  fill: () => {
    const kept = [];
    for (;;) kept.push(Array(10_000).fill(kept.length));
  },
};

parentPort.on('message', ({ job, argument }) => jobs[job](argument));
parentPort.postMessage('loaded');
