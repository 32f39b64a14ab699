// A worker that takes long to load.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);

export { default } from './obedient-worker.js';
