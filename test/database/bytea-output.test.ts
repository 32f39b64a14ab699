import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startGateway } from '../support/gateway.ts';

const creation = `mutation { getOrCreateUserGroup(input: { providedId: "acme", name: "ACME" }) {
  ... on GetOrCreateUserGroupPayload { created userGroup { token } } } }`;
const lookUp = 'query ($token: String!) { userGroup(by: { token: $token }) { providedId } }';
const rotation = `mutation ($currentToken: String!) {
  rotateUserGroupToken(input: { currentToken: $currentToken, graceSeconds: 60 }) {
    ... on RotateUserGroupTokenPayload { userGroup { providedId } } } }`;

test.each(['hex', 'escape'])('on a server with the setting bytea_output = %s requests have the same results', async (format) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // For the connections that the gateway opens from now on.
  await client.query(`alter database ${client.database} set bytea_output = ${format}`);
  await client.end();
  const gateway = await startGateway(database);
  onTestFinished(() => gateway.close());

  const create = async () => (await gateway.graphql(creation, {}, { headers: { 'idempotency-key': 'key' } })).json;
  const created = await create();
  expect(created.data.getOrCreateUserGroup.created).toBe(true);
  expect(await create()).toEqual(created); // the stored response
  const { token } = created.data.getOrCreateUserGroup.userGroup;
  const found = { data: { userGroup: { providedId: 'acme' } } };
  expect((await gateway.graphql(lookUp, { token })).json).toEqual(found);
  expect((await gateway.graphql(lookUp, { token })).json).toEqual(found); // by its location
  expect((await gateway.graphql(rotation, { currentToken: token })).json.data.rotateUserGroupToken).toEqual(found.data);
  expect((await gateway.graphql(lookUp, { token })).json).toEqual(found); // in its grace period
});
