import { configDefaults, defineConfig } from 'vitest/config';
import { findBrowser } from './test/support/find-browser.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // Without a browser they are left out, and the setup says so.
    exclude: [...configDefaults.exclude, ...(findBrowser() === undefined ? ['test/browser/**'] : [])],
    globalSetup: ['test/support/global-setup.ts'],
    // Files share modules: each has its own database, and none changes a module.
    isolate: false,
    // More than two processors suggest, because many tests mostly wait for processes, databases and browsers.
    maxWorkers: 4,
    // For a machine that does much else: alone, hardly any test takes five seconds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
  // Loaded once as a module: resolving it both ways would create two copies, and GraphQL rejects objects of the other one.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
});
