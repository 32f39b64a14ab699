import { setTimeout } from 'node:timers/promises';
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
  secrets['admin'] = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  await recordDeleted({ environment: 'Testing', firstTeamId: 1_000, count: 3 });
  await recordDeleted({ environment: 'Customer', firstTeamId: 2_000, count: 100 });
  // One was created in Testing, and moved before it was deleted.
  await gateway.database.pool.query(
    "update event set environment = 'Testing' where team_id = 2000 and type = 'user_group.created'",
  );
});
afterAll(() => gateway.close());

interface Deleted {
  readonly environment: 'Customer' | 'Testing';
  readonly firstTeamId: number;
  readonly count: number;
}

/** Records groups with the id that were created and deleted one after the other. */
async function recordDeleted({ environment, firstTeamId, count }: Deleted): Promise<void> {
  await gateway.database.pool.query(
    `insert into event (type, environment, actor_kind, actor_name, team_id, provided_id)
     select type, $1::event_environment, 'CLI', 'test', $2 + number, $3 from generate_series(0, $4::int - 1) as number,
       unnest('{user_group.created,user_group.deleted}'::text[]) with ordinality as types (type, place) order by number, place`,
    [environment, firstTeamId, providedId, count],
  );
}

const query = `query ($after: String, $filter: EventFilter) {
  events(first: 100, after: $after, filter: $filter) { nodes { type } pageInfo { hasNextPage endCursor } } }`;

/** The types of all events by the provided id, without their prefix, the newest first. */
async function typesSeenBy(caller: string): Promise<string[]> {
  const types: string[] = [];
  for (let after: string | null = null, hasNextPage = true; hasNextPage; ) {
    const variables = { after, filter: { userGroup: { providedId } } };
    const { json } = await gateway.graphql(query, variables, { token: secrets[caller] ?? '' });
    expect(json.errors).toBeUndefined();
    const { nodes, pageInfo } = json.data.events;
    types.push(...nodes.map(({ type }: { type: string }) => type.replace('USER_GROUP_', '')));
    ({ hasNextPage, endCursor: after } = pageInfo);
  }
  return types;
}

const cycles = (count: number): string[] => Array<string[]>(count).fill(['DELETED', 'CREATED']).flat();

test('deleted groups of other environments hide no event', async () => {
  expect(await typesSeenBy('Testing')).toEqual(['CREATED', ...cycles(3)]);
  expect((await typesSeenBy('Customer')).length).toBe(199);
  expect(await typesSeenBy('null')).toEqual([]);
});

test('a group that is deleted while its events are looked for is found', async () => {
  const { secret } = await gateway.issue({ scopes: ['groups:write', 'audit:read'] });
  const send = (document: string) => gateway.graphql(document, {}, { token: secret });
  await send('mutation { getOrCreateUserGroup(input: { providedId: "short-lived" }) { __typename } }');
  const holder = await gateway.database.pool.connect();
  try {
    await holder.query('begin; lock table user_group in access exclusive mode');
    const found = send('{ events(filter: { userGroup: { providedId: "short-lived" } }) { nodes { type } } }');
    await setTimeout(500); // what can be read was read
    await holder.query("delete from user_group where provided_id = 'short-lived'");
    await holder.query('commit');
    const nodes = [{ type: 'USER_GROUP_DELETED' }, { type: 'USER_GROUP_CREATED' }];
    expect((await found).json).toEqual({ data: { events: { nodes } } });
  } finally {
    holder.release();
  }
});
