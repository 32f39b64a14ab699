import { type Recorder, startRecorder } from '../concurrency/recorder.ts';
import type { Database } from '../database/client.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { stampResolvedGroups } from './statements/resolved.ts';

const hourMs = 3_600_000;

/** Records when groups were last resolved by one of their tokens. A group is written once an hour at most. */
export interface LastResolved extends Pick<Recorder, 'flush' | 'stop'> {
  /** Records that this group was resolved now. */
  note(group: Pick<UserGroup, 'teamId' | 'lastResolvedAt'>): void;
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
    const startedMs = performance.now(); // before the statement: a group is due too early rather than too late
    offsetMs = (await stampResolvedGroups(database, secondsAgo)) - startedMs;
  }, onWritten);
  return {
    note({ teamId, lastResolvedAt }) {
      const isDue = lastResolvedAt === null || lastResolvedAt.getTime() + hourMs <= offsetMs + performance.now();
      if (isDue) note(teamId);
    },
    flush,
    stop,
  };
}
