import { describe, expect, test } from 'vitest';
import { createSemaphore, FairQueue, type QueueKey } from '../../src/concurrency/fair-queue.ts';
import { createHeavyWork, type HeavyWork, heavyWorkLimits, type Pause } from '../../src/concurrency/heavy-work.ts';

/** How many of `count` pushes of a share succeed. */
const pushMany = (queue: FairQueue<number>, queueKey: QueueKey, count: number): number =>
  Array.from({ length: count }, (_, item) => queue.push(queueKey, item)).filter(Boolean).length;

describe('a queue of 100 places', () => {
  test.each<[string, [QueueKey, number][], number[]]>([
    ['lets one caller have three quarters', [[1, 200]], [75]],
    [
      'lets two callers have a quarter each once both wait',
      [
        [1, 10],
        [2, 200],
        [1, 200],
      ],
      [10, 25, 15],
    ],
    [
      'keeps places for others from a caller that came first',
      [
        [1, 200],
        [2, 200],
        [3, 1],
      ],
      [75, 25, 0],
    ],
    ['lets callers without a credential have a quarter in all', [[undefined, 200]], [25]],
  ])('%s', (_, pushes, expected) => {
    const queue = new FairQueue<number>(100);
    expect(pushes.map(([queueKey, count]) => pushMany(queue, queueKey, count))).toEqual(expected);
  });

  test('serves callers round-robin, and the items of each in order', () => {
    const queue = new FairQueue<string>(100);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charCodeAt(0), item);
    expect(Array.from({ length: 7 }, () => queue.shift())).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
    expect(queue.size).toBe(0);
  });

  test('skips callers that are not eligible', () => {
    const queue = new FairQueue<string>(100);
    queue.push(undefined, 'anonymous');
    queue.push(1, 'one');
    expect(queue.shift((queueKey) => queueKey !== undefined)).toBe('one');
    expect(queue.shift((queueKey) => queueKey !== undefined)).toBeUndefined();
    expect(queue.shift()).toBe('anonymous');
  });
});

describe('a semaphore', () => {
  /** Work that runs until it is ended explicitly, and how much of it is in progress. */
  function controlled() {
    const running: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string) => async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
      return name;
    };
    return { running, work, end: (name: string) => ends.get(name)?.() };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('runs as many pieces of work concurrently as it has places, and the next when one ends', async () => {
    const { running, work, end } = controlled();
    const semaphore = createSemaphore(2, 10);
    const results = ['a', 'b', 'c'].map((name) => semaphore.run(1, work(name)));
    await turn();
    expect(running).toEqual(['a', 'b']);
    end('a');
    expect(await results[0]).toBe('a');
    await turn();
    expect(running).toEqual(['b', 'c']);
    end('b');
    end('c');
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  test('leaves a place to callers with a credential', async () => {
    const { running, work, end } = controlled();
    const semaphore = createSemaphore(2, 10);
    const results = [semaphore.run(undefined, work('x')), semaphore.run(undefined, work('y')), semaphore.run(1, work('a'))];
    await turn();
    expect(running).toEqual(['x', 'a']);
    end('x');
    await results[0];
    await turn();
    expect(running).toEqual(['a', 'y']);
    end('a');
    end('y');
    expect(await Promise.all(results)).toEqual(['x', 'y', 'a']);
  });

  test('passes the place of failed work on, and rejects work when too much is waiting', async () => {
    const semaphore = createSemaphore(1, 4);
    const failing = semaphore.run(1, () => Promise.reject(new Error('failed')));
    const waiting = [1, 1, 1].map((queueKey) => semaphore.run(queueKey, async () => 'done'));
    await expect(semaphore.run(1, async () => 'never')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(failing).rejects.toThrow('failed');
    expect(await Promise.all(waiting)).toEqual(['done', 'done', 'done']);
  });
});

describe('heavy work', () => {
  test('begins one piece at a time, round-robin between callers, with turns of the event loop in between', async () => {
    const work = createHeavyWork();
    const admitted: string[] = [];
    let turns = 0;
    let isCounting = true;
    const count = () => {
      turns += 1;
      if (isCounting) setImmediate(count);
    };
    const turnsAt: number[] = [];
    const admit = (name: string) => {
      admitted.push(name);
      turnsAt.push(turns);
    };
    const parse = (name: string, queueKey: number) => work.enter({ queueKey }).then(() => admit(name));
    const execute = (name: string, queueKey: number) => work.run({ queueKey }, async () => admit(name));
    setImmediate(count);
    await Promise.all([parse('a1', 1), parse('a2', 1), parse('a3', 1), parse('b1', 2), execute('c1', 3)]);
    isCounting = false;
    expect(admitted).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
    for (let i = 1; i < turnsAt.length; i += 1) expect((turnsAt[i] as number) - (turnsAt[i - 1] as number)).toBeGreaterThan(20);
  });

  test('one request does not wait for itself, also in the presence of others; a request without a credential does', async () => {
    const work = createHeavyWork();
    const admitted: string[] = [];
    const request = { queueKey: 1 };
    const other = work.enter(request).then(() => work.enter({ queueKey: 2 }).then(() => admitted.push('other')));
    await work.enter(request);
    await work.run(request, async () => admitted.push('operation'));
    admitted.push('response');
    await other;
    const anonymous = { queueKey: undefined };
    await work.enter(anonymous);
    const again = work.enter(anonymous).then(() => admitted.push('again'));
    await new Promise((resolve) => setImmediate(resolve));
    admitted.push('meanwhile');
    await again;
    expect(admitted).toEqual(['operation', 'response', 'other', 'meanwhile', 'again']);
  });

  test('parses while as many operations as may be in progress wait for the database', async () => {
    const work = createHeavyWork();
    let started = 0;
    let respond = () => {};
    const response = new Promise<void>((resolve) => {
      respond = resolve;
    });
    const query = () => {
      started += 1;
      return response;
    };
    const operations = [1, 1, 1].map((queueKey) => work.run({ queueKey }, query));
    for (const queueKey of [1, 1, 1]) await work.enter({ queueKey });
    expect([started, work.waiting]).toEqual([2, 1]);
    respond();
    await Promise.all(operations);
  });

  test('an operation that pauses leaves its place to others, and takes one again', async () => {
    const work = createHeavyWork();
    const ended: string[] = [];
    const ends: (() => void)[] = [];
    const event = () => new Promise<void>((resolve) => ends.push(resolve));
    const paused = [1, 2, 3].map((queueKey) => work.run({ queueKey }, (pause) => pause(event)).then(() => ended.push('paused')));
    await expect.poll(() => ends.length).toBe(3);
    await Promise.all([4, 5, 6].map((queueKey) => work.run({ queueKey }, async () => ended.push('other'))));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = [7, 8].map((queueKey) => work.run({ queueKey }, () => held.then(() => ended.push('held'))));
    for (const end of ends) end();
    await expect.poll(() => work.waiting).toBe(3);
    release();
    await Promise.all([...paused, ...holding]);
    expect(ended).toEqual(['other', 'other', 'other', 'held', 'held', 'paused', 'paused', 'paused']);
    await takeAllPlaces(work);
  });

  test.each<[string, (pause: Pause, ended: Promise<void>) => Promise<void>]>([
    ['while it pauses', (pause) => pause(() => Promise.reject(new Error('lost')))],
    ['before its pause ends', (pause, ended) => Promise.all([pause(() => ended), Promise.reject(new Error('lost'))]).then()],
  ])('an operation that fails %s leaves no place taken', async (_, operate) => {
    const work = createHeavyWork();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const failing = [1, 2, 3].map((queueKey) => work.run({ queueKey }, (pause) => operate(pause, ended)));
    for (const operation of failing) await expect(operation).rejects.toThrow('lost');
    end();
    await ended;
    await expect.poll(() => work.waiting).toBe(0);
    await takeAllPlaces(work);
  });
});

/** Ends if as many operations as may be in progress are at once, and no more. */
async function takeAllPlaces(work: HeavyWork): Promise<void> {
  const { maxCostlyOperations } = heavyWorkLimits;
  let isFull = () => {};
  let inProgress = 0;
  const full = new Promise<void>((resolve) => {
    isFull = resolve;
  });
  const operations = Array.from({ length: maxCostlyOperations + 1 }, () =>
    work.run({ queueKey: 1 }, async () => {
      inProgress += 1;
      if (inProgress === maxCostlyOperations) isFull();
      await full;
    }),
  );
  await full;
  expect([inProgress, work.waiting]).toEqual([maxCostlyOperations, 1]);
  await Promise.all(operations);
}
