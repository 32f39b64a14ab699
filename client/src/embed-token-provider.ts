import { createError } from './errors.ts';
import { readJwt } from './jwt.ts';
import { withLimit } from './send.ts';

/** What your backend responds with: the result of `embedTokens.create`, or another object with `token`. */
export interface EmbedTokenResponse {
  /** The embed token. */
  readonly token: string;
  /**
   * How long the token is still valid. Needed if your backend returns tokens that it has created earlier; otherwise the token
   * says it.
   */
  readonly expiresInSeconds?: number;
}

/** The clock and the timers of a provider; by default those of the runtime. */
export interface Clock {
  /** The time in milliseconds. It may jump: users set it. */
  readonly now: () => number;
  /** Milliseconds that never jump. They may stand still while the machine sleeps. */
  readonly monotonic: () => number;
  /** Calls a function later. @returns what `clearTimeout` takes. */
  readonly setTimeout: (callback: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: unknown) => void;
}

/** The options of a provider. */
export interface EmbedTokenProviderOptions {
  /** Called with the first token and each renewed one, for a dashboard that cannot ask: the provider then renews by itself. */
  readonly onToken?: (token: string) => void;
  /**
   * Called when there is no valid token for {@link onToken}; the provider goes on trying. What `onToken` throws, or
   * rejects with, comes here too: the token is not passed again, but the next one is. What this throws is ignored.
   */
  readonly onError?: (error: unknown) => void;
  /** The clock, for tests. */
  readonly clock?: Clock;
}

/** Keeps an embed token for a page. */
export interface EmbedTokenProvider {
  /**
   * A token that has not expired. Rejects with the error of your function when there is none.
   *
   * @example
   * const response = await fetch(url, { headers: { authorization: `Bearer ${await provider.getToken()}` } });
   */
  getToken(): Promise<string>;
  /**
   * Ends the renewals for `onToken`.
   *
   * @example
   * window.addEventListener('pagehide', () => provider.stop());
   */
  stop(): void;
}

const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** How long your function may take. */
const limitMs = 10_000;
/** How long before its end a token is renewed: a quarter of its life, at most a minute. */
const renewalMs = (lifetimeMs: number) => Math.min(lifetimeMs / 4, 60_000);
/** After a failure, and at most between two looks at the clock: a timer that slept is late. */
const pauseMs = 5_000;
const lookMs = 30_000;

/**
 * Keeps an embed token for a page, with one request at a time, and renews it before it expires. It measures the age of a token
 * from before its request on, by the wall clock and a monotonic one, whichever says more: so it never returns an expired one,
 * whatever the clock of the machine says, and after a sleep.
 *
 * @param fetchToken asks your backend for a token; the signal ends the request after 10 seconds.
 * @example
 * const provider = createEmbedTokenProvider((signal) => fetch('/embed-token', { signal }).then((response) => response.json()));
 */
export function createEmbedTokenProvider(
  fetchToken: (signal: AbortSignal) => Promise<EmbedTokenResponse>,
  { onToken, onError, clock = systemClock }: EmbedTokenProviderOptions = {},
): EmbedTokenProvider {
  /** Milliseconds since this was called. */
  const stopwatch = () => {
    const [wall, steady] = [clock.now(), clock.monotonic()];
    return () => Math.max(clock.now() - wall, clock.monotonic() - steady);
  };
  let current = { token: '', lifetimeMs: 0, age: stopwatch() };
  let renewal: Promise<void> | undefined;
  let sinceFailure = () => Number.POSITIVE_INFINITY;
  let timer: unknown;
  let isStopped = !onToken;

  const leftMs = () => current.lifetimeMs - current.age();

  const renew = async () => {
    const age = stopwatch();
    try {
      const response: EmbedTokenResponse | null = await withLimit('Your backend', limitMs, undefined, fetchToken);
      const jwt = readJwt(response?.token);
      if (!response || !jwt) throw createError('INVALID_EMBED_TOKEN', 'The response has no embed token.');
      const { token, expiresInSeconds = Number(jwt.claims['exp']) - Number(jwt.claims['iat']) } = response;
      const lifetimeMs = expiresInSeconds * 1_000;
      if (!(lifetimeMs > age())) throw createError('EXPIRED_EMBED_TOKEN', 'The response has an expired embed token.');
      current = { token, lifetimeMs, age };
    } catch (error) {
      sinceFailure = stopwatch();
      throw error;
    } finally {
      renewal = undefined;
    }
  };

  const getToken = async (): Promise<string> => {
    const isDue = leftMs() <= renewalMs(current.lifetimeMs);
    const isTooSoon = leftMs() > 0 && sinceFailure() < pauseMs;
    if (isDue && !isTooSoon) {
      renewal ??= renew();
      await renewal.catch((error: unknown) => {
        if (leftMs() <= 0) throw error;
      });
    }
    if (leftMs() > 0) return current.token;
    throw createError('EXPIRED_EMBED_TOKEN', 'The embed token has expired.');
  };

  const report = (error: unknown): void => {
    try {
      onError?.(error);
    } catch {
      // There is nobody else to tell, and the dashboard still needs its next token.
    }
  };

  /** Not waited for: the next token must not be late because the page is slow. */
  const pass = async (token: string): Promise<void> => onToken?.(token);

  /** Passes a token on that differs from the last one, and looks again later. */
  const keep = async (last?: string): Promise<void> => {
    let token = last;
    try {
      token = await getToken();
      if (!isStopped && token !== last) void pass(token).catch(report);
    } catch (error) {
      report(error);
    }
    if (isStopped) return;
    const dueMs = leftMs() - renewalMs(current.lifetimeMs);
    timer = clock.setTimeout(() => void keep(token), Math.min(Math.max(dueMs, pauseMs), lookMs));
  };
  if (onToken) void keep();

  return {
    getToken,
    stop() {
      isStopped = true;
      clock.clearTimeout(timer);
    },
  };
}
