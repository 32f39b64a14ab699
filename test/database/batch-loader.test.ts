import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createBatchLoader, waitingKeys } from '../../src/database/batch-loader.ts';
import { DatabaseBusy } from '../../src/database/errors.ts';

/** A batch loader that records its batches; it has a value for every key but “unknown”, and fails a batch with “bad”. */
function createRecorded({ maxKeys = 100 } = {}) {
  const batches: (readonly string[])[] = [];
  const load = createBatchLoader<string, string>({
    keyOf: (key) => key.toLowerCase(),
    maxKeys,
    load: async (keys) => {
      batches.push(keys);
      await turn();
      if (keys.includes('bad')) throw new Error('this batch failed');
      return new Map(keys.filter((key) => key !== 'unknown').map((key) => [key.toLowerCase(), `${key}!`]));
    },
  });
  return { batches, load };
}

test('a single call is a batch', async () => {
  const { batches, load } = createRecorded();
  expect(await load('a')).toBe('a!');
  expect(batches).toEqual([['a']]);
});

test('calls of one turn are one batch, each with its own result', async () => {
  const { batches, load } = createRecorded();
  expect(await Promise.all([load('a'), load('b'), load('c')])).toEqual(['a!', 'b!', 'c!']);
  expect(batches).toEqual([['a', 'b', 'c']]);
});

test('calls made in the microtasks of one turn are one batch too', async () => {
  const { batches, load } = createRecorded();
  const late = Promise.resolve().then(() => load('b'));
  expect(await Promise.all([load('a'), late])).toEqual(['a!', 'b!']);
  expect(batches).toEqual([['a', 'b']]);
});

test('calls for the same key, by its keyOf, are loaded once and share the result', async () => {
  const { batches, load } = createRecorded();
  expect(await Promise.all([load('a'), load('A'), load('a')])).toEqual(['a!', 'a!', 'a!']);
  expect(batches).toEqual([['a']]);
});

test('distinct keys count as waiting until their batch is sent', async () => {
  const { batches, load } = createRecorded({ maxKeys: 2 });
  const before = waitingKeys.count;
  const loaded = Promise.all(['a', 'b', 'a', 'c', 'd', 'e'].map((key) => load(key)));
  expect(waitingKeys.count - before).toBe(5);
  await turn();
  expect(batches).toHaveLength(2);
  expect(waitingKeys.count - before).toBe(1);
  await loaded;
  expect(waitingKeys.count - before).toBe(0);
});

test('a key without a value resolves to undefined', async () => {
  const { load } = createRecorded();
  expect(await Promise.all([load('unknown'), load('a')])).toEqual([undefined, 'a!']);
});

describe('a batch has at most maxKeys keys', () => {
  test.each([
    [1, [1, 1, 1, 1, 1]],
    [2, [2, 2, 1]],
    [5, [5]],
    [6, [5]],
  ])('at most %d of 5: %j', async (maxKeys, sizes) => {
    const { batches, load } = createRecorded({ maxKeys });
    const keys = ['a', 'b', 'c', 'd', 'e'];
    expect(await Promise.all(keys.map((key) => load(key)))).toEqual(keys.map((key) => `${key}!`));
    expect(batches.map(({ length }) => length)).toEqual(sizes);
  });

  test('a repeated key does not count again', async () => {
    const { batches, load } = createRecorded({ maxKeys: 2 });
    await Promise.all([load('a'), load('a'), load('a'), load('b'), load('c')]);
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });
});

describe('a batch that fails', () => {
  test('fails each of its calls with the same error', async () => {
    const { load } = createRecorded();
    const results = await Promise.allSettled([load('bad'), load('a'), load('a')]);
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    expect(reasons[0]).toEqual(new Error('this batch failed'));
    expect(new Set(reasons).size).toBe(1);
  });

  test('fails no call of another batch', async () => {
    const { load } = createRecorded({ maxKeys: 2 });
    const results = await Promise.allSettled(['bad', 'a', 'b', 'c'].map((key) => load(key)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('does not stop later calls', async () => {
    const { load } = createRecorded();
    await expect(load('bad')).rejects.toThrow('this batch failed');
    expect(await load('a')).toBe('a!');
  });
});

describe('nothing is kept', () => {
  test('a call after a result loads again', async () => {
    const { batches, load } = createRecorded();
    await load('a');
    await load('a');
    expect(batches).toEqual([['a'], ['a']]);
  });

  test('a call while a batch is in flight does not join it: its value is read after the call', async () => {
    const { batches, load } = createRecorded();
    const first = load('a');
    await turn();
    expect(batches).toEqual([['a']]);
    await Promise.all([first, load('a')]);
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
    const load = createBatchLoader<number, number>({
      keyOf: String,
      maxKeys: 512,
      load: async (keys) => {
        await gate;
        return new Map(keys.map((key) => [String(key), key]));
      },
    });
    return { load, open };
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

  test('10,000 keys wait, a further one is rejected, and all get results in the end', async () => {
    const { load, open } = gated();
    const waiting = range(0, 10_000).map(load);
    await expect(load(10_000)).rejects.toThrow(DatabaseBusy);
    const again = load(9_999); // a key that waits already takes no place
    open();
    expect(await again).toBe(9_999);
    expect(await Promise.all(waiting)).toEqual(range(0, 10_000));
    expect(await load(10_000)).toBe(10_000);
  });

  test('places that were taken are free again once a batch is sent', async () => {
    const { load, open } = gated();
    open();
    for (let round = 0; round < 3; round += 1) {
      const keys = range(0, 7_500);
      expect(await Promise.all(keys.map(load))).toEqual(keys);
    }
  });
});
