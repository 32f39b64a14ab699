/** The environments of groups and callers, alternating. */
export const environments = ['Customer', 'Testing'] as const;

/** An environment tag as the database and the legacy API write it. */
export type Environment = (typeof environments)[number];

/** The number and the time of the first group. Each group after it is newer by a millisecond. */
export const firstTeamId = 1_000_001;
export const firstCreatedAtMs = Date.UTC(2026, 0, 1);

/** A user group as it must be stored. The rest of its row follows from its index. */
export interface Group {
  readonly index: number;
  /** Its own number within its provided id and name. */
  readonly digits: string;
  readonly environment: Environment;
  token: string;
  /** The number that the update in flight writes, and that of the last update with a response; 0 without one. */
  sentRevision: number;
  revision: number;
  /** Whether a request for it is in flight. */
  isBusy: boolean;
}

/** The group with an index, as it is seeded. */
export const createGroup = (index: number, token: string): Group => ({
  index,
  digits: String(index + 1).padStart(7, '0'),
  environment: environments[index % 2] as Environment,
  token,
  sentRevision: 0,
  revision: 0,
  isBusy: false,
});

/** A random group with at least this index that no request in flight is for. */
export function drawIdle(groups: readonly Group[], from = 0): Group {
  for (;;) {
    const group = groups[from + Math.floor(Math.random() * (groups.length - from))] as Group;
    if (!group.isBusy) return group;
  }
}
