import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CheckJob,
  createDocumentChecker,
  documentChecker,
  maxInlineCharacters,
} from '../../../src/docs-config/pool/check-documents.ts';
import type { WorkerPool } from '../../../src/docs-config/pool/worker-pool.ts';
import { type ValidateOptions, validateDocsConfig } from '../../../src/docs-config/validate.ts';
import { documents } from '../documents.ts';

const options = fc.record<ValidateOptions>(
  {
    strict: fc.boolean(),
    allowNestedGroups: fc.boolean(),
    severities: fc.constantFrom({}, { type: 'off', 'missing-file': 'error' } as const),
    files: fc.constantFrom(['a.mdx'], []),
  },
  { requiredKeys: [] },
);

test('reports the same on a thread as inline, for generated documents', async () => {
  const sources = fc.oneof(
    documents({ nested: true }).map((document) => JSON.stringify(document)),
    fc.constantFrom('', '{', '[1,2}', '{"name": "\\ud800", "navigation": {}}', '{"name": 1e400, "extra": [1, null]}'),
  );
  await fc.assert(
    fc.asyncProperty(sources, options, async (short, chosen) => {
      const source = short + ' '.repeat(maxInlineCharacters + 1);
      const report = documentChecker.check(source, chosen);
      expect(report).toBeInstanceOf(Promise);
      expect({ ...(await report) }).toEqual(validateDocsConfig(source, chosen));
    }),
    { numRuns: 30 },
  );
});

test('checks short documents of one turn inline and passes the rest to a thread', async () => {
  const jobs: [source: string, characters: number][] = [];
  const pool: WorkerPool<CheckJob, never> = {
    run: ({ source }, { characters }) => {
      jobs.push([source, characters]);
      return new Promise(() => undefined);
    },
    close: async () => undefined,
  };
  const checker = createDocumentChecker(pool);
  const half = `{"name": "${'a'.repeat(maxInlineCharacters / 2)}"}`;
  expect(checker.check(half, {})).toMatchObject({ valid: false });
  expect(checker.check(half, {})).toBeInstanceOf(Promise);
  expect(checker.check('{}', {})).toMatchObject({ valid: false });
  await new Promise((resolve) => setImmediate(resolve));
  expect(checker.check(half, {})).toMatchObject({ valid: false });
  // File paths count, too.
  expect(checker.check('{}', { files: ['a'.repeat(maxInlineCharacters)] })).toBeInstanceOf(Promise);
  expect(jobs).toEqual([
    [half, half.length],
    ['{}', maxInlineCharacters + 2],
  ]);
});
