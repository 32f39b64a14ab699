import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string }[];
}

test('no job that runs the tests may publish, and only what was tested is published', () => {
  const file = new URL('../../.github/workflows/publish.yml', import.meta.url);
  const { permissions, jobs } = parse(readFileSync(file, 'utf8')) as {
    readonly permissions: object;
    readonly jobs: Readonly<Record<string, Job>>;
  };
  const jobsThatRun = (command: RegExp) =>
    Object.entries(jobs).filter(([, { steps }]) => steps.some(({ run = '' }) => command.test(run)));
  const [tests, publishing] = [jobsThatRun(/\.ci\/run/), jobsThatRun(/npm publish/)];
  expect(permissions).toEqual({});
  expect(tests.map(([, job]) => job.permissions)).toEqual([{ contents: 'read' }]);
  expect(publishing.map(([, job]) => [job.permissions, job.needs])).toEqual([
    [{ contents: 'read', 'id-token': 'write' }, tests[0]?.[0]],
  ]);
});
