import { type Recorder, startRecorder } from '../concurrency/recorder.ts';
import type { Database } from '../database/client.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { stampResolvedGroups } from './statements/resolved.ts';

const hourMs = 3_600_000;

/** When a group was last resolved, accurate to the hour: the beginning of that hour. Null if never. */
export const lastResolvedAt = ({ lastResolvedHour }: Pick<UserGroup, 'lastResolvedHour'>): Date | null =>
  lastResolvedHour === null ? null : new Date(lastResolvedHour * hourMs);

/** The hour of a time, counted from 1970. */
export const hourOf = (time: Date): number => Math.floor(time.getTime() / hourMs);

/** Records in which hour groups were last resolved by one of their tokens. A group is written once an hour at most. */
export interface LastResolved extends Pick<Recorder, 'flush' | 'stop'> {
  /** Records that this group was resolved now. */
  note(group: Pick<UserGroup, 'teamId' | 'lastResolvedHour'>): void;
}

/**
 * Creates the recorder and starts its timer.
 *
 * @param onWritten as that of {@link startRecorder}.
 */
export function recordLastResolved(database: Pick<Database, 'query'>, onWritten?: (error?: unknown) => void): LastResolved {
  /** The database's clock minus the process's monotonic one; before the first statement, every group is due. */
  let offsetMs = Number.POSITIVE_INFINITY;
  const { note, flush, stop } = startRecorder(async (secondsAgo) => {
    const startedMs = performance.now(); // before the database's: its hour begins here no later than there
    const { nowMs, lockedIds } = await stampResolvedGroups(database, secondsAgo);
    offsetMs = nowMs - startedMs;
    return lockedIds;
  }, onWritten);
  return {
    note({ teamId, lastResolvedHour }) {
      const isDue = lastResolvedHour === null || (lastResolvedHour + 1) * hourMs <= offsetMs + performance.now();
      if (isDue) note(teamId);
    },
    flush,
    stop,
  };
}
