import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Files share what they import; each has a database of its own, and none changes a module.
    isolate: false,
    // More than two processors suggest: many tests wait for processes and databases most of the time.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
  // Loaded once as a module; resolving it both ways would give two copies, and GraphQL refuses objects of the other one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
