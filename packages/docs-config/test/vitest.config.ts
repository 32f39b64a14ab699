import { defineConfig } from 'vitest/config';

// For this package alone, without the database and the browser of the other tests: npm test -w packages/docs-config
export default defineConfig({ test: { include: ['test/**/*.test.ts'] } });
