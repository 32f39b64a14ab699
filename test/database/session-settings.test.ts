import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startGateway } from '../support/gateway.ts';

const group = 'userGroup { providedId name properties createdAt }';
const creation = `mutation { getOrCreateUserGroup(input: { providedId: "acme", name: "A\\\\C", properties: { a: "b\\\\c" } }) {
  ... on GetOrCreateUserGroupPayload { created userGroup { token } } } }`;
const lookUp = 'query ($token: String!) { userGroup(by: { token: $token }) { providedId name properties createdAt } }';
const update = `mutation { updateUserGroup(input: { by: { providedId: "acme" }, name: "\\\\", properties: { x: 1.5e300 } }) {
  ... on UpdateUserGroupPayload { ${group} } } }`;
const list = '{ userGroups(first: 2, filter: { search: "acm" }) { nodes { providedId createdAt } } }';
const rotation = `mutation ($currentToken: String!) {
  rotateUserGroupToken(input: { currentToken: $currentToken, graceSeconds: 60 }) {
    ... on RotateUserGroupTokenPayload { ${group} } } }`;
const events = '{ events(first: 3) { nodes { occurredAt } } }';

/** Settings of the database that a connection begins with, other than PostgreSQL's own. */
const settings = [
  ['bytea_output', 'escape'],
  ['datestyle', '"SQL, DMY"'],
  ['default_transaction_isolation', 'serializable'],
  ['extra_float_digits', '-3'],
  ['intervalstyle', 'sql_standard'],
  ['standard_conforming_strings', 'off'],
  ['timezone', '"Asia/Kolkata"'],
];

test('settings of the database do not change a response', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // For the connections that the gateway opens from now on.
  for (const [name, value] of settings) await client.query(`alter database ${client.database} set ${name} = ${value}`);
  await client.end();
  const gateway = await startGateway(database);
  onTestFinished(() => gateway.close());
  const admin = { headers: { authorization: `Token ${(await gateway.issue({ environment: null, scopes: ['admin'] })).secret}` } };

  const create = async () => (await gateway.graphql(creation, {}, { headers: { 'idempotency-key': 'key' } })).json;
  const created = await create();
  expect(created.data.getOrCreateUserGroup.created).toBe(true);
  expect(await create()).toEqual(created); // the stored response
  const { token } = created.data.getOrCreateUserGroup.userGroup;
  const find = async () => (await gateway.graphql(lookUp, { token })).json.data.userGroup;
  const found = await find();
  expect(found).toEqual({ providedId: 'acme', name: 'A\\C', properties: { a: 'b\\c' }, createdAt: expect.any(String) });
  const { createdAt } = found;
  expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(3_600_000);
  expect(await find()).toEqual(found); // by its location
  const updated = { userGroup: { ...found, name: '\\', properties: { x: 1.5e300 } } };
  expect((await gateway.graphql(update)).json.data.updateUserGroup).toEqual(updated);
  expect((await gateway.graphql(list)).json.data.userGroups.nodes).toEqual([{ providedId: 'acme', createdAt }]);
  expect((await gateway.graphql(rotation, { currentToken: token })).json.data.rotateUserGroupToken).toEqual(updated);
  expect(await find()).toEqual(updated.userGroup); // in its grace period
  const { nodes } = (await gateway.graphql(events, {}, admin)).json.data.events;
  const isNear = nodes.map(({ occurredAt }: { occurredAt: string }) => Math.abs(Date.parse(occurredAt) - Date.now()) < 3_600_000);
  expect(isNear).toEqual([true, true, true]);
});
