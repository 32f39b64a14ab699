import { expect, test } from 'vitest';
import {
  type Clock,
  createEmbedTokenProvider,
  type EmbedTokenProviderOptions,
  type EmbedTokenResponse,
} from '../../client/src/index.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved. */
function createClock() {
  const time = { wall: 1_800_000_000_000, steady: 5_000 };
  const timers = new Set<Timer>();
  const clock: Clock = {
    now: () => time.wall,
    monotonic: () => time.steady,
    setTimeout(callback, ms) {
      const timer = { at: time.steady + ms, callback };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as Timer),
  };
  /** The wall clock is set, or went on while the machine slept: timers and the monotonic clock stood still. */
  const jump = (ms: number): void => {
    time.wall += ms;
  };
  /** Time passes, and timers are called when they are due. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = time.steady + ms; time.steady < end; ) {
      const step = Math.min(1_000, end - time.steady);
      time.wall += step;
      time.steady += step;
      for (const timer of timers) {
        if (timer.at > time.steady) continue;
        timers.delete(timer);
        timer.callback();
      }
      await new Promise((resolve) => setImmediate(resolve)); // what the timers started
    }
  };
  return { clock, timers, jump, pass };
}

/** A backend with a clock of its own, whose tokens live for 15 minutes; and a provider on the test's clock. */
function createBackend(options: Omit<EmbedTokenProviderOptions, 'clock'> = {}) {
  const time = createClock();
  const offsetMs = 7 * 3_600_000; // the browser's clock is seven hours behind
  const expiries = new Map<string, () => boolean>();
  const backend = { requests: 0, respond: undefined as (() => Promise<EmbedTokenResponse>) | undefined };
  const create = (lifetimeSeconds = 900): EmbedTokenResponse => {
    const iat = Math.floor((time.clock.now() + offsetMs) / 1_000);
    const claims = { iat, exp: iat + lifetimeSeconds, jti: backend.requests };
    const token = `${[{ alg: 'EdDSA' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${'A'.repeat(86)}`;
    const [wall, steady] = [time.clock.now(), time.clock.monotonic()];
    const age = () => Math.max(time.clock.now() - wall, time.clock.monotonic() - steady);
    expiries.set(token, () => age() >= lifetimeSeconds * 1_000);
    return { token };
  };
  const fetchToken = async () => {
    backend.requests += 1;
    return backend.respond ? backend.respond() : create();
  };
  const provider = createEmbedTokenProvider(fetchToken, { ...options, clock: time.clock });
  /** The token of the provider; fails if it has expired. */
  const getToken = async () => {
    const token = await provider.getToken();
    expect(expiries.get(token)?.()).toBe(false);
    return token;
  };
  return { ...time, backend, create, provider, getToken };
}

test('asks for a token once for many callers, and again before it expires', async () => {
  const { getToken, pass, backend } = createBackend();
  const tokens = await Promise.all(Array.from({ length: 20 }, getToken));
  expect(new Set(tokens).size).toBe(1);
  await pass(839_000);
  expect(await getToken()).toBe(tokens[0]);
  expect(backend.requests).toBe(1);
  await pass(1_000);
  const renewed = await Promise.all(Array.from({ length: 20 }, getToken));
  expect(new Set(renewed).size).toBe(1);
  expect(renewed[0]).not.toBe(tokens[0]);
  expect(backend.requests).toBe(2);
});

test('returns the token that is still valid while the backend fails, and asks for another every five seconds', async () => {
  const { getToken, pass, backend } = createBackend();
  const token = await getToken();
  await pass(845_000);
  backend.respond = () => Promise.reject(new Error('no backend'));
  for (let second = 0; second < 20; second += 1) {
    expect(await getToken()).toBe(token);
    await pass(1_000);
  }
  expect(backend.requests).toBe(5);
  await pass(35_000);
  await expect(getToken()).rejects.toThrow('no backend');
  backend.respond = undefined;
  expect(await getToken()).not.toBe(token);
});

test('never returns an expired token: after a sleep, and whatever is done to the clock', async () => {
  const { getToken, jump, pass, backend } = createBackend();
  await getToken();
  jump(3_600_000);
  await getToken();
  expect(backend.requests).toBe(2);
  jump(-86_400_000);
  await pass(890_000);
  await getToken();
  expect(backend.requests).toBe(3);
  jump(86_400_000);
  await getToken();
  backend.respond = () => Promise.reject(new Error('no backend'));
  jump(900_000);
  await expect(getToken()).rejects.toThrow('no backend');
});

test.each([[{}], [{ token: 'ugt_of_a_group' }], [null]])('rejects a response without an embed token: %j', async (response) => {
  const { provider, backend } = createBackend();
  backend.respond = async () => response as EmbedTokenResponse;
  await expect(provider.getToken()).rejects.toMatchObject({ code: 'INVALID_EMBED_TOKEN' });
});

test('passes each token on in time, also after a sleep, and nothing once it is stopped', async () => {
  const tokens: string[] = [];
  const errors: unknown[] = [];
  const { pass, jump, provider, backend, getToken, timers } = createBackend({
    onToken: (token) => void tokens.push(token),
    onError: (error) => void errors.push(error),
  });
  await pass(3 * 840_000 + 30_000);
  expect(tokens).toHaveLength(4);
  expect(new Set(tokens).size).toBe(4);
  expect(tokens.at(-1)).toBe(await getToken());
  jump(3_600_000);
  await pass(30_000);
  expect(tokens).toHaveLength(5);
  expect(errors).toEqual([]);

  backend.respond = () => Promise.reject(new Error('no backend'));
  await pass(920_000);
  expect(errors.length).toBeGreaterThan(0);
  backend.respond = undefined;
  await pass(5_000);
  expect(tokens).toHaveLength(6);

  expect(timers.size).toBe(1);
  provider.stop();
  expect(timers.size).toBe(0);
  await pass(2_000_000);
  expect(tokens).toHaveLength(6);
});
