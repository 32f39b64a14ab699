import { silent } from '../audit-log/statements/author.ts';
import { type Recorder, startRecorder } from '../concurrency/recorder.ts';
import type { Sql } from '../database/client.ts';
import type { UserGroup } from '../generated/prisma/client.ts';

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
export function recordLastResolved(sql: Sql, onWritten?: (error?: unknown) => void): LastResolved {
  /** The database's clock minus the process's monotonic one; before the first statement, every group is due. */
  let offsetMs = Number.POSITIVE_INFINITY;
  const { note, flush, stop } = startRecorder(async (secondsAgo) => {
    const startedMs = performance.now(); // before the statement: a group is due too early rather than too late
    offsetMs = (await stampResolvedGroups(sql, secondsAgo)) - startedMs;
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

/**
 * Records when groups were last resolved, by the database's clock, where the stored time is at least an hour older.
 *
 * @param secondsAgo how long ago that was, by the numbers of the groups.
 * @returns the time of that clock, in milliseconds since 1970.
 */
async function stampResolvedGroups(sql: Sql, secondsAgo: ReadonlyMap<number, number>): Promise<number> {
  const values = [[...secondsAgo.keys()], [...secondsAgo.values()]];
  const [row] = await sql<{ now: Date }>('stamp-resolved-groups', stampResolved, values);
  return row?.now.getTime() ?? Number.NaN;
}

/** Locked by number, as imports lock groups. Silent to spare the triggers the look at each row: the column is bookkeeping. */
const stampResolved = `
  with ${silent}, due as materialized (
    select g.team_id, now() - seconds_ago * interval '1 second' as at
    from unnest($1::int[], $2::float8[]) as each (team_id, seconds_ago) join user_group g using (team_id)
    where coalesce(g.last_resolved_at <= now() - (seconds_ago + 3600) * interval '1 second', true)
    order by g.team_id for no key update of g
  ), updated as (
    update user_group g set last_resolved_at = due.at from due, silent where g.team_id = due.team_id
  )
  select now()`;
