import { existsSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the slowest first: most start gateways and PostgreSQL servers. The list only affects the duration
 * of a run: a slow file that starts last keeps one worker busy while the others are idle.
 */
const slowest = [
  'database/embedded.test.ts',
  'graphql/fast-path.test.ts',
  'commands/stop.test.ts',
  'concurrency/crash.test.ts',
  'database/pgbouncer.test.ts',
  'commands/serve.test.ts',
  'commands/groups.test.ts',
  'commands/token.test.ts',
  'docs-config/growth.test.ts',
  'browser/playground.test.ts',
  'commands/workers.test.ts',
  'database/embedded-shared.test.ts',
  'graphql/repeated.test.ts',
  'domain/user-group-list.test.ts',
  'docs-config/properties.test.ts',
  'commands/npm.test.ts',
  'database/privileges.test.ts',
  'rest/compiled.test.ts',
  'concurrency/environments.test.ts',
  'commands/usage.test.ts',
  'database/migrate.test.ts',
];

const missing = slowest.filter((name) => !existsSync(new URL(`../${name}`, import.meta.url)));
if (missing.length > 0) throw new Error(`test/support/slowest-first.ts lists files that do not exist: ${missing.join(', ')}.`);

/** Runs the slowest files first, then the others by size, as vitest does. A first run has no times of an earlier one to go by. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowest.findIndex((name) => moduleId.endsWith(`/test/${name}`));
      return index === -1 ? slowest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
