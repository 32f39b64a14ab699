// A worker that does what its job says, for the tests of the pool.
import { parentPort } from 'node:worker_threads';

const jobs = {
  echo: (text) => text,
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
    return 'waited';
  },
  // Says that it was run.
  mark: (flag) => {
    Atomics.store(flag, 0, 1);
    return 'marked';
  },
  fill: () => {
    const kept = [];
    for (;;) kept.push(Array(10_000).fill(kept.length));
  },
};

export default ({ job, argument }) => {
  parentPort.postMessage('started');
  return jobs[job](argument);
};
