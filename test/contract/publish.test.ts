import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string }[];
}

test('the job that may publish runs nothing of the repository: it publishes the packages that the tests passed with', () => {
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
  expect(publishing).toMatchObject([[expect.any(String), { permissions: { 'id-token': 'write' }, needs: tests[0]?.[0] }]]);
  const [, { permissions: rights, steps }] = publishing[0] as [string, Job];
  expect(rights).toEqual({ 'id-token': 'write' });
  expect(steps.flatMap(({ run }) => run ?? [])).toEqual([
    expect.stringMatching(/^npm publish .*--ignore-scripts \.\/gateway\/\*\.tgz$/),
    expect.stringMatching(/^npm publish .*--ignore-scripts \.\/client\/\*\.tgz$/),
  ]);
});
