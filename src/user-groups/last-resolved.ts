import type { StampResolved } from './statements/last-resolved.ts';

/** How long the resolution of a group may go unrecorded. */
const flushIntervalMs = 5_000;

/** How many groups are recorded in one statement, and how many wait for that at most: a later look-up notes the others again. */
const maxPerStatement = 1_000;
const maxNoted = 10_000;

/**
 * Records when groups were last resolved by one of their tokens, accurate to the hour: in memory immediately, in the database
 * every few seconds, never while a request waits.
 */
export interface LastResolved {
  /** Records that the group with this number was resolved now. For one whose last record is older than an hour. */
  note(teamId: number): void;
  /** Writes what was noted. What cannot be written is noted again by the next look-up. Never rejects. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  stop(): Promise<void>;
}

/** Creates the recorder and starts its timer, which flushes every 5 seconds. */
export function recordLastResolved(stampResolved: StampResolved): LastResolved {
  let noted = new Set<number>();

  async function flush(): Promise<void> {
    const teamIds = [...noted];
    noted = new Set();
    try {
      for (let start = 0; start < teamIds.length; start += maxPerStatement) {
        await stampResolved(teamIds.slice(start, start + maxPerStatement));
      }
    } catch {
      // The groups are still due, so that their next look-up notes them again.
    }
  }

  const timer = setInterval(() => void flush(), flushIntervalMs).unref();
  return {
    note(teamId) {
      if (noted.size < maxNoted) noted.add(teamId);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
