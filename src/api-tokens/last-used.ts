import type { ApiTokenStatements } from '../db.ts';

/** How long a use of an API token may go unrecorded. */
const flushIntervalMs = 5_000;

/**
 * Records when API tokens were last used: in memory immediately, in the database every few seconds, never while a request waits.
 */
export interface LastUsed {
  /** Records that the API token with this id was used now. */
  note(apiTokenId: number): void;
  /** Writes the recorded uses; those that cannot be written are kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  stop(): Promise<void>;
}

/**
 * Creates the recorder and starts its timer, which flushes every 5 seconds.
 *
 * @param onWritten receives the outcome of each statement: the error, or nothing.
 */
export function recordLastUsed(
  { apiToken }: { readonly apiToken: Pick<ApiTokenStatements, 'recordUses'> },
  onWritten: (error?: unknown) => void = () => {},
): LastUsed {
  /** By the process's monotonic clock, in milliseconds: another clock than the database's would store times that never come. */
  let uses = new Map<number, number>();

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const written = uses;
    uses = new Map();
    try {
      const nowMs = performance.now();
      await apiToken.recordUses(new Map([...written].map(([id, atMs]) => [id, (nowMs - atMs) / 1_000])));
      onWritten();
    } catch (error) {
      onWritten(error);
      for (const [id, atMs] of written) if (!uses.has(id)) uses.set(id, atMs);
    }
  }

  const timer = setInterval(() => void flush(), flushIntervalMs).unref();
  return {
    note: (apiTokenId) => void uses.set(apiTokenId, performance.now()),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
