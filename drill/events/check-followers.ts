import { encodeGlobalID } from '@pothos/plugin-relay';
import { eventKey } from '../../src/audit-log/events.ts';
import type { Event } from '../../src/generated/prisma/client.ts';
import { until } from '../../test/support/process.ts';
import { type ScenarioContext, seconds } from '../scenario.ts';
import type { Deployment } from './deployment.ts';
import type { Follower } from './followers.ts';

/** An event of the table. */
export interface StoredEvent extends Pick<Event, 'id' | 'type' | 'environment' | 'teamId'> {
  readonly globalId: string;
}

/** Waits until every event has its position. @returns the table, in the order of the feed. */
export async function readEvents({ withDatabase, query }: Deployment): Promise<StoredEvent[]> {
  const isAssigned = async () => (await query('select from event where position is null limit 1')).length === 0;
  await until(isAssigned, 'every event gets its position', 60_000);
  return withDatabase(async ({ prisma }) => {
    const select = { id: true, type: true, environment: true, teamId: true, occurredAt: true } as const;
    const rows = await prisma.event.findMany({ select, orderBy: { position: 'asc' } });
    return rows.map((row) => ({ ...row, globalId: encodeGlobalID('Event', eventKey(row)) }));
  });
}

/** Checks that followers that have ended have seen what the table has: all of it, each event once, in its order. */
export function checkFollowers(
  { figure, expect }: ScenarioContext,
  followers: readonly Follower[],
  table: readonly StoredEvent[],
): void {
  const counts = { seen: 0, missed: 0, twice: 0, unknown: 0, outOfOrder: 0, replaced: 0, errors: 0, forgotten: 0 };
  const stored = new Map(table.map((event, place) => [event.globalId, { ...event, place }]));
  for (const { name, seen, types, environments, errors, forgotten, wrong } of followers) {
    const ids = new Set(seen.map(({ id }) => id));
    const missed = table.filter(
      (event) => environments.includes(event.environment) && (types?.includes(event.type) ?? true) && !ids.has(event.globalId),
    );
    // An import replaces its event. Only those with admin see imports, which belong to no environment.
    const gone = [...ids].filter((id) => !stored.has(id));
    const replaced = environments.includes('None') && !types ? gone.length : 0;
    let place = -1;
    let outOfOrder = 0;
    const lastOfGroup = new Map<number, bigint>();
    for (const event of seen.flatMap(({ id }) => stored.get(id) ?? [])) {
      const { id, teamId } = event;
      const isLaterOfGroup = teamId === null || id > (lastOfGroup.get(teamId) ?? 0n);
      if (event.place <= place || !isLaterOfGroup) outOfOrder += 1;
      if (teamId !== null) lastOfGroup.set(teamId, id);
      place = event.place;
    }
    const twice = seen.length - ids.size;
    const unknown = gone.length - replaced;
    expect(missed.length === 0, `${name} missed ${missed.length} of ${table.length} events, such as ${missed[0]?.globalId}`);
    expect(twice + unknown + outOfOrder === 0, `${name}: ${twice} twice, ${unknown} unknown, ${outOfOrder} out of order`);
    expect(wrong.length === 0, `${name}: ${wrong.length} wrong responses: ${wrong.slice(0, 3).join('; ')}`);
    expect(seen.length > 0, `${name} has seen nothing`);
    const each = { seen: seen.length, missed: missed.length, twice, unknown, outOfOrder, replaced, errors, forgotten };
    for (const [count, value] of Object.entries(each)) counts[count as keyof typeof counts] += value;
  }
  const { seen, missed, twice, outOfOrder, replaced, errors, forgotten } = counts;
  const late = countLate(table);
  figure(`${table.length} events, ${late} of them visible only after a later one; ${followers.length} followers`);
  figure(`${seen} read: ${missed} missed, ${outOfOrder} out of order, ${twice} twice; ${replaced} of imports that were replaced`);
  figure(`${errors} errors, after which they continued, ${forgotten} pages forgotten and read again`);
  expect(late > 0, 'no event became visible after a later one: the order of numbers would pass, too');
}

/** The events of which a later one has an earlier position. */
function countLate(table: readonly StoredEvent[]): number {
  let highest = 0n;
  let late = 0;
  for (const { id } of table) {
    if (id < highest) late += 1;
    else highest = id;
  }
  return late;
}

/** The longest time that a follower that waits may take without faults: more than the documented second, for a busy machine. */
const mostDelayMs = 4_000;

/** Checks the delay of those that wait, from the acknowledgement of a commit to the arrival of its event. */
export function checkDelays(
  { figure, expect }: ScenarioContext,
  followers: readonly Follower[],
  commits: ReadonlyMap<string, number>,
  faultsAtMs: number,
): void {
  const numberOf = (id: string) => Buffer.from(id, 'base64').toString().split('.')[1] ?? '';
  const delays = followers
    .filter(({ waitSeconds }) => waitSeconds > 0)
    .flatMap(({ seen }) => seen)
    .flatMap(({ id, atMs }) => {
      const committedAtMs = commits.get(numberOf(id));
      return committedAtMs === undefined ? [] : [{ committedAtMs, delayMs: Math.max(0, atMs - committedAtMs) }];
    });
  const longest = (of: typeof delays) => Math.max(0, ...of.map(({ delayMs }) => delayMs));
  const calm = delays.filter(({ committedAtMs }) => committedAtMs < faultsAtMs - mostDelayMs);
  figure(
    `delivered to those that wait at most ${seconds(longest(calm))} s after the commit (${calm.length} times), during faults ${seconds(longest(delays))} s`,
  );
  expect(calm.length > 0, 'no delay was measured without faults');
  expect(longest(calm) <= mostDelayMs, `an event arrived only ${seconds(longest(calm))} s after its commit`);
}
