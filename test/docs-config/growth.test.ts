import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { validateDocsConfig } from '../../src/docs-config/validate.ts';
import { filesOf, type HostileShape, hostileShapes, knownShapes, textOf } from './hostile-shapes.ts';

/**
 * Two steps of size, in characters. Time by the square of the size shows in both; a burst of other work only in one. Where little
 * is done for each pair of characters it shows in large texts only, so known shapes are larger than those that are drawn.
 */
const stepsFrom = (characters: number) => [
  { from: characters, factor: 8 },
  { from: 8 * characters, factor: 4 },
];

/** Less than this is taken for this, so that the noise of a machine, some milliseconds, never counts. */
const floorMs = 4;
const maxMeasures = 5;
const maxMs = 5_000;

/** What is done to a text, and to the paths of files, in time that has to grow as they do. */
const operations = {
  validate: (text) => validateDocsConfig(text),
  'validate strictly, with files': (text, files) => validateDocsConfig(text, { strict: true, allowNestedGroups: true, files }),
  fix: (text) => applyFixes(text),
} satisfies Record<string, (text: string, files: string[]) => unknown>;

test.each(knownShapes)('time grows as the text does: $name', (shape) => {
  expectLinear(shape, 32_000);
});

test('time grows as the text does, for generated shapes', () => {
  fc.assert(
    fc.property(hostileShapes, (shape) => expectLinear(shape, 8_000)),
    { numRuns: 40 },
  );
});

/** Eight times the input may take sixteen times the processor time, and four times the input eight times. */
function expectLinear(shape: HostileShape, characters: number): void {
  for (const [name, operation] of Object.entries(operations)) {
    const measured: string[] = [];
    const isLinear = stepsFrom(characters).some(({ from, factor }) => {
      const [small, large] = leastMs(operation, shape, [from, from * factor], 2 * factor);
      measured.push(`${small.toFixed(1)} ms for ${from} characters, ${large.toFixed(1)} ms for ${factor} times as many`);
      return large <= 2 * factor * Math.max(small, floorMs);
    });
    expect(isLinear, `${name}: ${measured.join('; ')}; ${JSON.stringify(shape)}`).toBe(true);
  }
}

/** The least time of each size, measured until they are in proportion: what else the machine does can only add. */
function leastMs(
  operation: (text: string, files: string[]) => unknown,
  shape: HostileShape,
  sizes: readonly [number, number],
  maxGrowth: number,
): [number, number] {
  const inputs = sizes.map((characters) => ({ text: textOf(shape, characters), files: filesOf(shape, characters) }));
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let measures = 0; measures < maxMeasures && (measures === 0 || large > maxGrowth * Math.max(small, floorMs)); measures++) {
    const [smallNow = 0, largeNow = 0] = inputs.map(({ text, files }) => processorMs(() => operation(text, files)));
    [small, large] = [Math.min(small, smallNow), Math.min(large, largeNow)];
    if (largeNow > maxMs) break; // far from linear: more measures would only take time
  }
  return [small, large];
}

function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
