import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { collapse } from '../../src/database/batch-loader.ts';
import { DatabaseBusy } from '../../src/database/errors.ts';

/** A collapsed look-up that writes down its batches; it knows every word but “unknown”, and fails a batch with “bad”. */
function given({ maxKeys = 100 } = {}) {
  const batches: (readonly string[])[] = [];
  const lookUp = collapse<string, string>({
    identity: (key) => key.toLowerCase(),
    maxKeys,
    load: async (keys) => {
      batches.push(keys);
      await turn();
      if (keys.includes('bad')) throw new Error('this batch failed');
      return new Map(keys.filter((key) => key !== 'unknown').map((key) => [key.toLowerCase(), `${key}!`]));
    },
  });
  return { batches, lookUp };
}

test('a lone call is a batch of its own', async () => {
  const { batches, lookUp } = given();
  expect(await lookUp('a')).toBe('a!');
  expect(batches).toEqual([['a']]);
});

test('calls of one turn are one batch, each with its own answer', async () => {
  const { batches, lookUp } = given();
  expect(await Promise.all([lookUp('a'), lookUp('b'), lookUp('c')])).toEqual(['a!', 'b!', 'c!']);
  expect(batches).toEqual([['a', 'b', 'c']]);
});

test('calls that come in the microtasks of one turn are one batch too', async () => {
  const { batches, lookUp } = given();
  const late = Promise.resolve().then(() => lookUp('b'));
  expect(await Promise.all([lookUp('a'), late])).toEqual(['a!', 'b!']);
  expect(batches).toEqual([['a', 'b']]);
});

test('the same key is asked once, by its identity, and answers every call', async () => {
  const { batches, lookUp } = given();
  expect(await Promise.all([lookUp('a'), lookUp('A'), lookUp('a')])).toEqual(['a!', 'a!', 'a!']);
  expect(batches).toEqual([['a']]);
});

test('a key without a value has none', async () => {
  const { lookUp } = given();
  expect(await Promise.all([lookUp('unknown'), lookUp('a')])).toEqual([undefined, 'a!']);
});

describe('a batch has no more keys than it may', () => {
  test.each([
    [1, [1, 1, 1, 1, 1]],
    [2, [2, 2, 1]],
    [5, [5]],
    [6, [5]],
  ])('at most %d of 5: %j', async (maxKeys, sizes) => {
    const { batches, lookUp } = given({ maxKeys });
    const keys = ['a', 'b', 'c', 'd', 'e'];
    expect(await Promise.all(keys.map((key) => lookUp(key)))).toEqual(keys.map((key) => `${key}!`));
    expect(batches.map(({ length }) => length)).toEqual(sizes);
  });

  test('of distinct keys: the same ones again take no room', async () => {
    const { batches, lookUp } = given({ maxKeys: 2 });
    await Promise.all([lookUp('a'), lookUp('a'), lookUp('a'), lookUp('b'), lookUp('c')]);
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });
});

describe('a batch that fails', () => {
  test('fails each of its calls with the same error', async () => {
    const { lookUp } = given();
    const results = await Promise.allSettled([lookUp('bad'), lookUp('a'), lookUp('a')]);
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    expect(reasons[0]).toEqual(new Error('this batch failed'));
    expect(new Set(reasons).size).toBe(1);
  });

  test('fails no call of another batch', async () => {
    const { lookUp } = given({ maxKeys: 2 });
    const results = await Promise.allSettled(['bad', 'a', 'b', 'c'].map((key) => lookUp(key)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('does not stop later calls', async () => {
    const { lookUp } = given();
    await expect(lookUp('bad')).rejects.toThrow('this batch failed');
    expect(await lookUp('a')).toBe('a!');
  });
});

describe('nothing is kept', () => {
  test('a call after an answer asks again', async () => {
    const { batches, lookUp } = given();
    await lookUp('a');
    await lookUp('a');
    expect(batches).toEqual([['a'], ['a']]);
  });

  test('a call while a batch is under way does not join it: its answer is read after it asked', async () => {
    const { batches, lookUp } = given();
    const first = lookUp('a');
    await turn();
    expect(batches).toEqual([['a']]);
    await Promise.all([first, lookUp('a')]);
    expect(batches).toEqual([['a'], ['a']]);
  });
});

describe('while the database does not respond', () => {
  /** A batch loader whose statements wait until `open` is called. */
  function gated() {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const lookUp = collapse<number, number>({
      identity: String,
      maxKeys: 512,
      load: async (keys) => {
        await gate;
        return new Map(keys.map((key) => [String(key), key]));
      },
    });
    return { lookUp, open };
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

  test('one caller gets three quarters of the places, others the rest, and all of them results in the end', async () => {
    const { lookUp, open } = gated();
    const first = range(0, 7_500).map((key) => lookUp(key, 1));
    await expect(lookUp(7_500, 1)).rejects.toThrow(DatabaseBusy);
    const second = range(7_500, 10_000).map((key) => lookUp(key, 2));
    for (const share of [1, 2, 3]) await expect(lookUp(10_000, share)).rejects.toThrow(DatabaseBusy);
    const again = lookUp(9_999, 3); // a key that waits already takes no place
    open();
    expect(await again).toBe(9_999);
    expect(await Promise.all([...first, ...second])).toEqual(range(0, 10_000));
    expect(await lookUp(10_000, 1)).toBe(10_000);
  });

  test('no caller gets more than a quarter of the places beside others', async () => {
    const { lookUp, open } = gated();
    const waiting = [lookUp(0, 1), ...range(1, 2_501).map((key) => lookUp(key, 2))];
    await expect(lookUp(2_501, 2)).rejects.toThrow(DatabaseBusy);
    waiting.push(...range(2_501, 5_000).map((key) => lookUp(key, 1)));
    await expect(lookUp(5_000, 1)).rejects.toThrow(DatabaseBusy);
    open();
    expect(await Promise.all(waiting)).toEqual(range(0, 5_000));
  });

  test('places that were taken are free again once a batch is sent', async () => {
    const { lookUp, open } = gated();
    open();
    for (let round = 0; round < 3; round += 1) {
      const keys = range(0, 7_500);
      expect(await Promise.all(keys.map((key) => lookUp(key, 1)))).toEqual(keys);
    }
  });
});
