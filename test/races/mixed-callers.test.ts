import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { forgedToken } from '../support/tokens.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a concurrent rotation by a caller of another environment does not affect the rotation by a caller of the group’s environment', async () => {
  const rightful = (await gateway.issue({ environment: 'Customer' })).secret;
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const created = await gateway.send('GET', '/api/user', { body: { user_group_id: `group-${i}` }, token: rightful });
      const body = { current_token: created.json.user_group.token };
      const [stranger, owner] = await Promise.all([
        gateway.send('POST', '/api/user', { body }),
        gateway.send('POST', '/api/user', { body, token: rightful }),
      ]);
      return [stranger.status, owner.status];
    }),
  );
  expect(outcomes).toEqual(outcomes.map(() => [404, 200]));
});

test('an API token whose scopes were emptied in the database allows nothing, and does not affect callers in the same batch', async () => {
  const [empty, missing] = await Promise.all([gateway.issue(), gateway.issue()]);
  await gateway.database.pool.query(`update api_token set scopes = '{}' where id = $1`, [empty.id]);
  await gateway.database.pool.query('update api_token set scopes = null where id = $1', [missing.id]);
  const lookUp = async (token?: string) => {
    const reply = await gateway.graphql('{ caller { scopes } }', {}, token === undefined ? {} : { token });
    return reply.json.data.caller.scopes;
  };
  const all = await Promise.all([lookUp(empty.secret), lookUp(missing.secret), lookUp()]);
  expect(all).toEqual([[], [], ['GROUPS_READ', 'GROUPS_WRITE']]);
  expect((await gateway.send('GET', '/api/user', { body: { user_group_id: 'a' }, token: empty.secret })).status).toBe(403);
});

test('look-ups of both environments, of unknown tokens and with errors, in one batch, each get their own result', async () => {
  const create = async (environment: 'Customer' | 'Testing') => {
    const caller = (await gateway.issue({ environment })).secret;
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'mixed' }, token: caller });
    return { caller, token: json.user_group.token, teamId: json.user_group.team_id };
  };
  const [customer, testing] = await Promise.all([create('Customer'), create('Testing')]);
  const unknown = forgedToken('apiToken');
  const query = 'query ($token: String!) { userGroup(by: { token: $token }) { teamId } }';
  const lookUp = async (credential: string, token: string) => {
    const { status, json } = await gateway.graphql(query, { token }, { token: credential });
    return json.errors ? [status, json.errors[0].extensions.code] : json.data.userGroup;
  };
  const cases: [string, string, unknown][] = [
    [customer.caller, customer.token, { teamId: customer.teamId }],
    [testing.caller, testing.token, { teamId: testing.teamId }],
    [customer.caller, testing.token, null],
    [testing.caller, customer.token, null],
    [customer.caller, 'a token of no group', null],
    [testing.caller, 'nul\u0000', [200, 'INVALID_INPUT']],
    [unknown, customer.token, [401, 'UNAUTHENTICATED']],
  ];
  const many = Array.from({ length: 10 }, () => cases).flat();
  const results = await Promise.all(many.map(([credential, token]) => lookUp(credential, token)));
  expect(results).toEqual(many.map(([, , expected]) => expected));
});
