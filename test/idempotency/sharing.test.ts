import { afterAll, beforeAll, expect, test } from 'vitest';
import { Caller, type Credential } from '../../src/caller.ts';
import { findMutation } from '../../src/graphql/execution/keyed-mutations.ts';
import { sharingOf } from '../../src/idempotency/sharing.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const update = `mutation ($by: UserGroupBy!) { updateUserGroup(input: { by: $by, name: "new" }) {
  __typename ... on UpdateUserGroupPayload { userGroup { version } } ... on Error { message } } }`;

// Two statements would lock their groups, in an order that another transaction may not have.
test('updates by an id and by a token share no transaction; each shares some with its like', async () => {
  const [byId, byToken] = [await gateway.issue({ scopes: ['groups:write'] }), await gateway.issue({ scopes: ['groups:write'] })];
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const groups = await Promise.all(
    numbers.map(async (index) => {
      const { json } = await gateway.send('GET', '/api/user', { token: byId.secret, body: { user_group_id: `group-${index}` } });
      return json.user_group;
    }),
  );
  const send = (token: string, by: object, key: string) =>
    gateway.graphql(update, { by }, { token, headers: { 'idempotency-key': key } });
  const replies = await Promise.all(
    groups.flatMap(({ provided_id: providedId, token }) => [
      send(byId.secret, { providedId }, providedId),
      send(byToken.secret, { token }, providedId),
    ]),
  );
  for (const { json } of replies) expect(json.data.updateUserGroup).toMatchObject({ __typename: 'UpdateUserGroupPayload' });
  // Each transaction has stored its responses in one statement, and so under one number.
  const { rows } = await gateway.database.pool.query(
    'select count(*)::int as stored, count(distinct api_token_id)::int as callers from idempotency_record group by xmin::text',
  );
  expect(rows.filter(({ callers }) => callers > 1)).toEqual([]);
  expect(Math.max(...rows.map(({ stored }) => stored))).toBeGreaterThan(1);
});

const callerWith = (scope: string) => new Caller({ scopes: [scope] } as unknown as Credential);
const [writer, admin] = [callerWith('groups:write'), callerWith('admin')];
const whole = 'mutation ($i: UpdateUserGroupInput!) { updateUserGroup(input: $i) { __typename } }';
const parts = 'mutation ($by: UserGroupBy!, $v: Int) { updateUserGroup(input: { by: $by, expectedVersion: $v }) { __typename } }';

test.each<[string, Caller, string, object, string | undefined]>([
  ['a number', writer, whole, { i: { by: { teamId: 1 } } }, 'updateUserGroup'],
  ['an id', writer, whole, { i: { by: { providedId: 'a' } } }, 'updateUserGroup'],
  ['an id of any environment', admin, whole, { i: { by: { providedId: 'a' } } }, 'updateUserGroup by providedId'],
  ['a number of any environment', admin, whole, { i: { by: { teamId: 1 } } }, 'updateUserGroup'],
  ['a token', writer, whole, { i: { by: { token: 't' } } }, 'updateUserGroup by token'],
  [
    'a literal',
    writer,
    'mutation { a: updateUserGroup(input: { by: { token: "t" }, name: "n" }) { __typename } }',
    {},
    'updateUserGroup by token',
  ],
  ['a merge patch', writer, whole, { i: { by: { teamId: 1 }, mergeProperties: {} } }, undefined],
  ['a condition that may be given', writer, parts, { by: { teamId: 1 } }, undefined],
  [
    'an input that is a default',
    writer,
    'mutation ($i: X = { by: { teamId: 1 } }) { updateUserGroup(input: $i) { id } }',
    {},
    undefined,
  ],
  ['a selector that is none', writer, whole, { i: { by: { other: 1 } } }, undefined],
  ['a rotation', writer, 'mutation { rotateUserGroupToken(input: { currentToken: "t" }) { id } }', {}, 'rotateUserGroupToken'],
  [
    'a rotation of a version',
    writer,
    'mutation { rotateUserGroupToken(input: { currentToken: "t", expectedVersion: 1 }) { id } }',
    {},
    undefined,
  ],
  ['a creation', writer, 'mutation { getOrCreateUserGroup(input: { providedId: "a" }) { id } }', {}, 'getOrCreateUserGroup'],
  ['another mutation', writer, 'mutation { deleteUserGroup(input: { by: { teamId: 1 } }) { id } }', {}, undefined],
])('%s', async (_, caller, query, variables, expected) => {
  const mutation = await findMutation({ query, variables }, caller);
  expect(sharingOf(caller, mutation?.name ?? '', mutation?.input)).toBe(expected);
});
