import { existsSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the slowest first: most start gateways and PostgreSQL servers. The list only affects the duration
 * of a run: a slow file that starts last keeps one worker busy while the others are idle.
 */
const slowest = [
  'graphql/fast-path.test.ts',
  'commands/groups.test.ts',
  'docs/snippets.test.ts',
  'database/embedded-shared.test.ts',
  'database/embedded.test.ts',
  'commands/workers.test.ts',
  'graphql/repeated.test.ts',
  'concurrency/model.test.ts',
  'commands/stop.test.ts',
  'browser/console-groups.test.ts',
  'commands/keys.test.ts',
  'commands/serve.test.ts',
  'browser/playground.test.ts',
  'browser/console-group.test.ts',
  'database/client.test.ts',
  'domain/user-group-list.test.ts',
  'database/pgbouncer.test.ts',
  'browser/pages.test.ts',
  'docs-config/growth.test.ts',
  'rest/compiled.test.ts',
  'docs-config/properties.test.ts',
  'concurrency/crash.test.ts',
  'commands/token.test.ts',
  'commands/npm.test.ts',
  'http/bounds.test.ts',
  'rest/openapi.test.ts',
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
