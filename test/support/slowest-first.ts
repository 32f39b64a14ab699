import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, the slowest first; those that mostly wait are apart from each other. The list only affects the
 * duration of a run: a slow file that starts last keeps one worker busy while the others are idle.
 */
const slowest = [
  'http/on-response.test.ts',
  'graphql/fast-path.test.ts',
  'races/model.test.ts',
  'commands/doctor.test.ts',
  'contract/access.test.ts',
  'client/faults.test.ts',
  'graphql/repeated.test.ts',
  'webhooks/deliver.test.ts',
  'audit-log/feed.test.ts',
  'database/privileges.test.ts',
  'client/package.test.ts',
  'webhooks/send.test.ts',
  'database/migrate.test.ts',
  'audit-log/events.test.ts',
  'graphql/shape.test.ts',
  'user-groups/statements/pages.test.ts',
  'database/client.test.ts',
  'idempotency/http.test.ts',
  'graphql/large-responses.test.ts',
  'embed-tokens/introspection.test.ts',
  'races/idempotency.test.ts',
  'graphql/too-large-responses.test.ts',
  'client/gateway.test.ts',
  'docs/events.test.ts',
  'examples/nextjs.test.ts',
  'browser/console-hostile.test.ts',
  'browser/console-two-tabs.test.ts',
  'browser/console-groups.test.ts',
  'browser/console-group.test.ts',
  'browser/console-docs-config.test.ts',
  'browser/playground.test.ts',
  'browser/console-session.test.ts',
  'browser/console-export.test.ts',
  'browser/console-audit-log.test.ts',
  'browser/console-navigation.test.ts',
  'browser/console-api-tokens.test.ts',
  'browser/pages.test.ts',
  'processes/groups.test.ts',
  'processes/bundled.test.ts',
  'processes/stop.test.ts',
  'processes/snapshot.test.ts',
  'processes/crash.test.ts',
  'processes/snippets.test.ts',
  'processes/model.test.ts',
  'processes/keys.test.ts',
  'processes/serve.test.ts',
  'processes/one-winner.test.ts',
  'processes/pgbouncer.test.ts',
  'processes/secrets.test.ts',
  'processes/openapi-examples.test.ts',
  'processes/usage.test.ts',
  'processes/setup.test.ts',
];

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
