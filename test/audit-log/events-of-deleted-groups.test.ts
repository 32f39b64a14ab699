import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
const secrets: Record<string, string> = {};
const providedId = 'reused';

beforeAll(async () => {
  gateway = await startGateway();
  for (const environment of ['Customer', 'Testing', null] as const) {
    secrets[String(environment)] = (await gateway.issue({ environment, scopes: ['audit:read'] })).secret;
  }
  await recordDeleted('Testing', 1_000, 3);
  await recordDeleted('Customer', 2_000, 100);
  // One was created in Testing, and moved before it was deleted.
  await gateway.database.pool.query(
    "update event set environment = 'Testing' where team_id = 2000 and type = 'user_group.created'",
  );
});
afterAll(() => gateway.close());

/** Records groups with the id that were created and deleted one after the other. */
const recordDeleted = (environment: 'Customer' | 'Testing', firstTeamId: number, count: number) =>
  gateway.database.pool.query(
    `insert into event (type, environment, actor_kind, actor_name, team_id, provided_id)
     select type, $1::event_environment, 'CLI', 'test', $2 + number, $3 from generate_series(0, $4::int - 1) as number,
       unnest('{user_group.created,user_group.deleted}'::text[]) with ordinality as types (type, place) order by number, place`,
    [environment, firstTeamId, providedId, count],
  );

/** The types of the newest 100 events by the provided id, without their prefix. */
async function typesSeenBy(caller: string): Promise<string[]> {
  const query = 'query ($filter: EventFilter) { events(first: 100, filter: $filter) { nodes { type } } }';
  const { json } = await gateway.graphql(query, { filter: { userGroup: { providedId } } }, { token: secrets[caller] ?? '' });
  return json.data.events.nodes.map(({ type }: { type: string }) => type.replace('USER_GROUP_', ''));
}

const cycles = (count: number): string[] => Array<string[]>(count).fill(['DELETED', 'CREATED']).flat();

test('deleted groups of other environments hide no event', async () => {
  expect(await typesSeenBy('Testing')).toEqual(['CREATED', ...cycles(3)]);
  expect(await typesSeenBy('Customer')).toEqual(cycles(50));
  expect(await typesSeenBy('null')).toEqual([]);
});
