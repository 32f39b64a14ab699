import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { root: import.meta.dirname, include: ['*.test.ts'], testTimeout: 120_000, maxWorkers: 1 },
  // As the packages that are tested load it: resolving it as a module would give a second copy.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
