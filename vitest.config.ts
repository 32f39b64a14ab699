import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Files share what they import; each has a database of its own, and none changes a module.
    isolate: false,
    // More than the usual one for two processors: much of the time goes by waiting for processes and databases.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
  // Loaded once as a module; resolving it both ways would give two copies, and GraphQL refuses objects of the other one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
