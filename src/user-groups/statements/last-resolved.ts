import type { Database } from '../../database/client.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';

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
  { query }: Pick<Database, 'query'>,
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
        const values = [teamIds.slice(start, start + maxPerStatement)];
        const [[seconds] = []] = await query('stamp-resolved-groups', stampResolved, values);
        offsetMs = Number(seconds) * 1_000 - performance.now();
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

/**
 * Records that the groups with these numbers are resolved in the current hour, by the database's clock, and returns its time.
 * Skips groups that another transaction has locked: their next look-up records them.
 */
const stampResolved = `
  with clock as materialized (
    select extract(epoch from now()) as seconds, floor(extract(epoch from now()) / 3600)::int as hour
  ), due as materialized (
    select g.team_id, clock.hour from clock, user_group g
    where g.team_id = any ($1::int[]) and coalesce(g.last_resolved_hour < clock.hour, true)
    order by g.team_id for update of g skip locked
  ), updated as (
    update user_group g set last_resolved_hour = due.hour from due where g.team_id = due.team_id
  )
  select seconds from clock`;
