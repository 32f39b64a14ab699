import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDocumentChecker, documentChecker, maxInlineCharacters } from '../../../src/docs-config/pool/check-documents.ts';
import type { WorkerPool } from '../../../src/docs-config/pool/worker-pool.ts';
import { type ValidateOptions, validateDocsConfig } from '../../../src/docs-config/validate.ts';
import { documents } from '../documents.ts';
import { hostileShapes, textOf } from '../hostile-shapes.ts';

const long = `{"name": "${'a'.repeat(maxInlineCharacters)}", "navigation": []}`;
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
  const sources = fc.array(
    fc.oneof(
      documents({ nested: true }).map((document) => JSON.stringify(document)),
      hostileShapes.map((model) => textOf(model, 2000)),
    ),
    { maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(sources, options, async (short, chosen) => {
      // With a long document, all documents go to the thread.
      const reports = documentChecker.check([...short, long], chosen);
      expect(reports).toBeInstanceOf(Promise);
      const expected = [...short, long].map((source) => validateDocsConfig(source, chosen));
      expect((await reports).map((report) => ({ ...report }))).toEqual(expected);
    }),
    { numRuns: 12 },
  );
});

/** A pool that records its jobs and never runs them. */
function recordingPool() {
  const jobs: { sources: readonly string[]; characters: number }[] = [];
  const pool: WorkerPool<{ sources: readonly string[] }, never> = {
    run: ({ sources }, { characters }) => {
      jobs.push({ sources, characters });
      return new Promise(() => undefined);
    },
    close: async () => undefined,
  };
  return { jobs, checker: createDocumentChecker(pool) };
}

test('checks short documents of one turn inline and passes the rest to a thread', async () => {
  const { jobs, checker } = recordingPool();
  const half = `{"name": "${'a'.repeat(maxInlineCharacters / 2)}"}`;
  expect(checker.check([half], {})).toMatchObject([{ valid: false }]);
  expect(checker.check([half], {})).toBeInstanceOf(Promise);
  expect(checker.check(['{}'], {})).toMatchObject([{ valid: false }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(checker.check([half], {})).toMatchObject([{ valid: false }]);
  expect(jobs).toEqual([{ sources: [half], characters: half.length }]);
});

test('counts file paths too, and a repeated text once', () => {
  const { jobs, checker } = recordingPool();
  void checker.check(['{}'], { files: ['a'.repeat(maxInlineCharacters)] });
  void checker.check([long, '{}', long], {});
  expect(jobs).toEqual([
    { sources: ['{}'], characters: maxInlineCharacters + 2 },
    { sources: [long, '{}'], characters: long.length + 2 },
  ]);
});
