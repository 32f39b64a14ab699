import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '../../src/scopes.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let resolver: string;
/** A group's token in its grace period, and the one that replaced it. */
let former: string;
let current: string;

const rotate = `mutation ($token: String!) { rotateUserGroupToken(input: { currentToken: $token, graceSeconds: 600 }) {
  ... on RotateUserGroupTokenPayload { userGroup { token } } } }`;

beforeAll(async () => {
  gateway = await startGateway();
  resolver = (await gateway.issue({ scopes: ['groups:resolve'] })).secret;
  const body = { user_group_id: 'acme', name: 'ACME', mapping: { sales: 'warehouse' }, properties: { plan: 'gold' } };
  former = (await gateway.send('GET', '/api/user', { body })).json.user_group.token;
  const { json } = await gateway.graphql(rotate, { token: former });
  current = json.data.rotateUserGroupToken.userGroup.token;
});
afterAll(() => gateway.close());

const lookUp = (fields: string) => `query ($token: String!) { userGroup(by: { token: $token }) { ${fields} } }`;

describe('with groups:resolve alone', () => {
  test.each(['current', 'former'])('the %s token gives access to every field of its group except the token', async (which) => {
    const fields = 'teamId providedId name environmentTag properties mapping { schemaId dataSource } createdAt updatedAt id';
    const reply = await gateway.graphql(lookUp(fields), { token: which === 'former' ? former : current }, { token: resolver });
    expect(reply.json.data.userGroup).toMatchObject({
      providedId: 'acme',
      name: 'ACME',
      environmentTag: 'TESTING',
      properties: { plan: 'gold' },
      mapping: [{ schemaId: 'sales', dataSource: 'warehouse' }],
    });
  });

  test.each([
    ['plainly', 'name token'],
    ['under another name', 'name secret: token'],
    ['in a fragment', 'name ... on Node { ... on UserGroup { token } }'],
  ])('the field token, requested %s, is FORBIDDEN and the current token is not in the response', async (_, fields) => {
    for (const token of [former, current]) {
      // Often enough to take whatever path a known document takes.
      for (let time = 1; time <= 6; time += 1) {
        const reply = await gateway.graphql(lookUp(fields), { token }, { token: resolver });
        expect(reply.json.data).toEqual({ userGroup: null });
        expect(reply.json.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
        expect(reply.json.errors[0].message).toContain('groups:read or groups:write');
        expect(reply.text).not.toContain(tokenPrefixes.userGroup);
      }
    }
  });
});

test.each<[Scope[]]>([[['groups:read']], [['groups:resolve', 'groups:write']], [['admin']]])(
  'with %j a former token shows the current one',
  async (scopes) => {
    const { secret } = await gateway.issue({ scopes });
    const { json } = await gateway.graphql(lookUp('token'), { token: former }, { token: secret });
    expect(json).toEqual({ data: { userGroup: { token: current } } });
  },
);

test('with groups:write alone, a mutation returns the group that it names, including its token', async () => {
  const { secret } = await gateway.issue({ scopes: ['groups:write'] });
  const document = `mutation { updateUserGroup(input: { by: { providedId: "acme" } }) {
    ... on UpdateUserGroupPayload { userGroup { name token } } } }`;
  const { json } = await gateway.graphql(document, {}, { token: secret });
  expect(json.data.updateUserGroup.userGroup).toEqual({ name: 'ACME', token: current });
});
