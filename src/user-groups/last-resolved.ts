import type { Database } from '../database/client.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { stampResolvedGroups } from './statements/resolved.ts';

/** How long the resolution of a group may go unrecorded. */
const flushIntervalMs = 5_000;

/** How many groups are recorded in one statement, and how many wait for that at most: a later look-up notes the others again. */
const maxPerStatement = 1_000;
const maxNoted = 10_000;

const hourMs = 3_600_000;

/** When a group was last resolved, accurate to the hour: the beginning of that hour. Null if never. */
export const lastResolvedAt = ({ lastResolvedHour }: Pick<UserGroup, 'lastResolvedHour'>): Date | null =>
  lastResolvedHour === null ? null : new Date(lastResolvedHour * hourMs);

/** The hour of a time, counted from 1970. */
export const hourOf = (time: Date): number => Math.floor(time.getTime() / hourMs);

/**
 * Records in which hour groups were last resolved by one of their tokens: in memory immediately, in the database every few
 * seconds, never while a request waits. A group is written once an hour at most.
 */
export interface LastResolved {
  /** Records that this group was resolved now. */
  note(group: Pick<UserGroup, 'teamId' | 'lastResolvedHour'>): void;
  /** Writes what was noted. What cannot be written is noted again by the next look-up. Never rejects. */
  flush(): Promise<void>;
  /** Stops the timer and flushes a last time. */
  stop(): Promise<void>;
}

/**
 * Creates the recorder and starts its timer, which flushes every 5 seconds.
 *
 * @param onWritten receives the outcome of each statement: the error, or nothing.
 */
export function recordLastResolved(
  database: Pick<Database, 'query'>,
  onWritten: (error?: unknown) => void = () => {},
): LastResolved {
  let noted = new Set<number>();
  /** The database's clock minus the process's monotonic one, in milliseconds; undefined until the first statement. */
  let offsetMs: number | undefined;
  let currentHour = Number.POSITIVE_INFINITY;

  async function flush(): Promise<void> {
    const teamIds = [...noted];
    noted = new Set();
    try {
      for (let start = 0; start < teamIds.length; start += maxPerStatement) {
        const nowMs = await stampResolvedGroups(database, teamIds.slice(start, start + maxPerStatement));
        offsetMs = nowMs - performance.now();
        onWritten();
      }
    } catch (error) {
      onWritten(error);
      // The groups are still due, so that their next look-up notes them again.
    }
    if (offsetMs !== undefined) currentHour = Math.floor((offsetMs + performance.now()) / hourMs);
  }

  const timer = setInterval(() => void flush(), flushIntervalMs).unref();
  return {
    note({ teamId, lastResolvedHour }) {
      const isDue = lastResolvedHour === null || lastResolvedHour < currentHour;
      if (isDue && noted.size < maxNoted) noted.add(teamId);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
