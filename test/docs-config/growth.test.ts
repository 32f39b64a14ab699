import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { validateDocsConfig } from '../../src/docs-config/validate.ts';
import { filesOf, type HostileShape, hostileShapes, knownShapes, textOf } from './hostile-shapes.ts';

/** Eight times the text may take sixteen times the processor time: twice what is in proportion, a quarter of the square. */
const factor = 8;
const maxGrowth = 2 * factor;

/** The size up to which the small text grows: quadratic work with a small factor shows only in large texts. */
const maxCharacters = 90_000;

/** Shorter times are not compared, because of the noise of a machine: the text grows first. Known shapes grow further. */
const leastMs = 4;
const leastMsOfKnown = 8;

/** A result out of proportion is measured again, and the least time counts: other load can only add. */
const maxMeasures = 8;

/** A run that takes this long is not measured again. */
const maxMs = 5_000;

/** Operations on a text and on file paths, whose time must grow linearly with them. */
const operations: Record<string, (text: string, files: string[]) => unknown> = {
  'validate strictly, with files': (text, files) => validateDocsConfig(text, { strict: true, allowNestedGroups: true, files }),
  fix: (text) => applyFixes(text),
};

test.each(knownShapes)('takes time in proportion to the text: $name', (shape) => {
  for (const name of Object.keys(operations)) expectLinear(name, shape, 16_000, leastMsOfKnown);
});

test('takes time in proportion to the text, for generated shapes', () => {
  fc.assert(
    fc.property(hostileShapes, fc.constantFrom(...Object.keys(operations)), (shape, name) =>
      expectLinear(name, shape, 16_000, leastMs),
    ),
    { numRuns: 12 },
  );
});

/** Compares the times of a text of at least `characters`, so long that it takes `fromMs`, and of one eight times as long. */
function expectLinear(name: string, shape: HostileShape, characters: number, fromMs: number): void {
  const small = measureOf(name, shape, characters);
  small.repeat(); // the first time, code is compiled
  if (small.leastMs() < fromMs && characters < maxCharacters) {
    expectLinear(name, shape, Math.min(2 * characters, maxCharacters), fromMs);
    return;
  }
  const large = measureOf(name, shape, factor * characters);
  const mayTakeMs = () => maxGrowth * Math.max(small.leastMs(), leastMs);
  for (let measures = 1; measures < maxMeasures && large.leastMs() > mayTakeMs() && large.leastMs() < maxMs; measures++) {
    small.repeat();
    large.repeat();
  }
  const found = `${name}: ${small.leastMs().toFixed(1)} ms for ${characters} characters, ${large.leastMs().toFixed(1)} ms for ${factor} times as many`;
  expect(large.leastMs(), `${found}; ${JSON.stringify(shape)}`).toBeLessThanOrEqual(mayTakeMs());
}

/** Measures the processor time of an operation on a shape at a size; again with each `repeat`. */
function measureOf(name: string, shape: HostileShape, characters: number) {
  const [text, files] = [textOf(shape, characters), filesOf(shape, characters)];
  let least = Number.POSITIVE_INFINITY;
  const repeat = () => {
    const before = process.cpuUsage();
    operations[name]?.(text, files);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  };
  repeat();
  return { leastMs: () => least, repeat };
}
