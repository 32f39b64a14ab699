import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { storedToken, tokenOf } from '../support/keys.ts';
import { mutate } from '../support/user-group-mutations.ts';

/** Two gateways on one database, and a caller of each environment. */
let gateways: [TestGateway, TestGateway];
const secrets = new Map<EnvironmentTag | null, string>();

beforeAll(async () => {
  const first = await startGateway();
  gateways = [first, await startGateway(first.database)];
  for (const environment of ['Customer', 'Testing', null] as const) {
    secrets.set(environment, (await first.issue({ environment })).secret);
  }
});
afterAll(async () => {
  await gateways[1].close();
  await gateways[0].close();
});

const combinations: (EnvironmentTag | null)[][] = [
  ['Customer', null],
  ['Testing', null],
  ['Customer', 'Testing'],
  ['Customer', 'Testing', null],
];

test.each(combinations)(
  'creation of one id at the same moment, in %s and %s: what is stored keeps the rules, and so do the answers',
  async (...environments) => {
    const rounds = Array.from({ length: 8 }, (_, round) => `${environments.join('-')} ${round}`);
    const outcomes = new Set<string>();
    for (const id of rounds) {
      const replies = await Promise.all(
        environments.flatMap((environment) =>
          gateways.map(async (gateway) => {
            const reply = await gateway.send('GET', '/api/user', {
              token: secrets.get(environment) ?? '',
              body: { user_group_id: id },
            });
            return { environment, reply };
          }),
        ),
      );
      const { database } = gateways[0];
      const stored = await database.prisma.userGroup.findMany({ where: { providedId: id } });
      const tags = stored.map(({ environmentTag }) => environmentTag);
      expect(new Set(tags).size).toBe(tags.length);
      expect(tags.length).toBeGreaterThan(0);
      if (tags.includes(null)) expect(tags).toEqual([null]);
      for (const { environment, reply } of replies) {
        const own = stored.find(({ environmentTag }) => environmentTag === environment);
        expect(reply.status).toBe(own ? 200 : 409);
        if (own) expect(reply.json.user_group).toMatchObject({ team_id: own.teamId, token: tokenOf(own) });
        else expect(reply.json.code).toBe('CONFLICT');
      }
      for (const environment of new Set(environments)) {
        const created = replies.filter((each) => each.environment === environment && each.reply.json.new_user_group === true);
        expect(created).toHaveLength(tags.includes(environment) ? 1 : 0);
      }
      outcomes.add(tags.map(String).sort().join(' and '));
    }
    // Customer and Testing never conflict; with an untagged group, the first one wins.
    if (!environments.includes(null)) expect([...outcomes]).toEqual(['Customer and Testing']);
  },
);

test('the database enforces the rules for every client', async () => {
  const { prisma } = gateways[0].database;
  const insert = (environmentTag: EnvironmentTag | null, providedId: string) =>
    prisma.userGroup
      .create({
        data: { providedId, environmentTag, name: providedId, ...storedToken(`token of ${providedId} ${environmentTag}`) },
      })
      .then(
        () => 'stored',
        () => 'refused',
      );
  expect([await insert('Customer', 'a'), await insert('Testing', 'a'), await insert(null, 'a')]).toEqual([
    'stored',
    'stored',
    'refused',
  ]);
  expect([await insert(null, 'b'), await insert('Customer', 'b'), await insert('Testing', 'b')]).toEqual([
    'stored',
    'refused',
    'refused',
  ]);
  expect([await insert('Customer', 'c'), await insert('Customer', 'c')]).toEqual(['stored', 'refused']);
  expect([await insert('Testing', 'd'), await insert('Testing', 'd')]).toEqual(['stored', 'refused']);
  expect([await insert(null, 'e'), await insert(null, 'e')]).toEqual(['stored', 'refused']);
});

test.each([
  ['all groups', '', 'name'],
  ['groups found by a search', '(filter: { search: "moving" })', 'name'],
])('a list of %s has each once while groups move between environments', async (_, filter, field) => {
  const [gateway, other] = gateways;
  const admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  await gateway.database.prisma.userGroup.deleteMany({});
  const ids = ['moving 1', 'moving 2', 'moving 3', 'moving 4', 'moving 5'];
  for (const providedId of ids) await mutate(gateway, 'getOrCreateUserGroup', { providedId, name: providedId });
  let isDone = false;
  const moveAround = async (providedId: string) => {
    for (let turn = 0; !isDone; turn += 1) {
      const environmentTag = [null, 'CUSTOMER', 'TESTING'][turn % 3];
      await mutate(other, 'setUserGroupEnvironment', { by: { providedId }, environmentTag }, admin);
    }
  };
  const moves = ids.map(moveAround);
  const query = `{ userGroups${filter} { totalCount nodes { providedId ${field} } } }`;
  const lists: { totalCount: number; nodes: { providedId: string }[] }[] = [];
  const list = async () => {
    while (lists.length < 24) lists.push((await gateway.graphql(query, {}, { token: admin })).json.data.userGroups);
  };
  await Promise.all([list(), list(), list()]).finally(() => {
    isDone = true;
  });
  await Promise.all(moves);
  const found = lists.map(({ totalCount, nodes }) => [
    totalCount,
    new Set(nodes.map(({ providedId }) => providedId)),
    nodes.length,
  ]);
  for (const each of found) expect(each).toEqual([5, new Set(ids), 5]);
});
