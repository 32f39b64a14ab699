import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyRing } from '../../src/domain/keys.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import { encryptToken } from '../../src/domain/user-group-tokens.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';

/** The keys of another gateway on the database, which the one under test lacks. */
const others = new KeyRing([randomBytes(32)]);
const [keyId = ''] = others.ids;

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.close());

const createByOther = (providedId: string) =>
  gateway.database.prisma.userGroup.create({
    data: {
      providedId,
      name: providedId,
      environmentTag: 'Testing',
      ...encryptToken(others, 'user_group', issueToken('userGroup')),
    },
  });
const getOrCreate = (id: string) => gateway.send('GET', '/api/user', { body: { user_group_id: id } });
const list = (fields: string) => gateway.graphql(`{ userGroups { nodes { ${fields} } } }`);
/** The code of the failure, over either API. */
const codeOf = ({ json }: Reply) => json.code ?? json.errors[0].extensions.code;
const missingKeyLines = () => gateway.log.filter((line) => line.includes(keyId));

test.each([
  ['a list with tokens', () => list('name token')],
  ['a look-up with the token', () => gateway.graphql('{ userGroup(by: { providedId: "other" }) { token } }')],
  ['get-or-create over REST', () => getOrCreate('other')],
])('%s that needs a key that is missing is UNAVAILABLE, and names the key and the command doctor', async (_, send) => {
  await createByOther('other');
  // Compiled by then.
  for (let use = 0; use < 5; use += 1) {
    const reply = await send();
    expect([reply.status, codeOf(reply)]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.text).toMatch(new RegExp(`encryption key ${keyId}\\b.*\\bdoctor\\b`));
  }
});

test('what needs no token of such a group is served', async () => {
  await createByOther('other');
  expect((await getOrCreate('own')).status).toBe(200);
  expect((await list('name')).json.data.userGroups.nodes).toEqual([{ name: 'own' }, { name: 'other' }]);
  expect((await gateway.graphql('{ userGroup(by: { providedId: "own" }) { token } }')).status).toBe(200);
});

test('requests that fail for a missing key are counted, and one of many in a minute is logged', async () => {
  await createByOther('other');
  for (let request = 0; request < 3; request += 1) await getOrCreate('other');
  await list('token');
  expect(missingKeyLines().map((line) => JSON.parse(line).level)).toEqual(['warn']);
  const { secret: token } = await gateway.issue({ scopes: ['metrics:read'] });
  const { text } = await gateway.send('GET', '/metrics', { token });
  expect(text).toMatch(/^gateway_missing_encryption_key_failures_total 4$/m);
});

test('a gateway is not ready while it lacks the key that new groups use, and ready while it lacks another one', async () => {
  expect((await gateway.send('GET', '/readyz')).status).toBe(200); // without groups
  await createByOther('old');
  const unready = await gateway.send('GET', '/readyz');
  expect([unready.status, unready.text]).toEqual([503, expect.stringContaining(keyId)]);
  await getOrCreate('new');
  expect((await gateway.send('GET', '/readyz')).status).toBe(200);
});

describe('a token that may be stored under a key that is missing', () => {
  const token = issueToken('userGroup');
  const graphql = (text: string) => gateway.graphql(text.replace('TOKEN', token));
  const lookUps: [string, () => Promise<Reply>][] = [
    ['a look-up', () => graphql('{ userGroup(by: { token: "TOKEN" }) { name } }')],
    ['an update', () => graphql('mutation { updateUserGroup(input: { by: { token: "TOKEN" } }) { __typename } }')],
    ['a rotation', () => graphql('mutation { rotateUserGroupToken(input: { currentToken: "TOKEN" }) { __typename } }')],
    ['a rotation over REST', () => gateway.send('POST', '/api/user', { body: { current_token: token } })],
  ];

  test.each(lookUps)('%s is UNAVAILABLE, and names the key', async (_, send) => {
    await createByOther('other');
    const reply = await send();
    expect([reply.status, codeOf(reply)]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.text).toContain(keyId);
  });

  test.each(lookUps)('%s finds nothing where no key is missing', async (_, send) => {
    await getOrCreate('own');
    expect((await send()).status).not.toBe(503);
  });

  test('introspection does not say that it is inactive', async () => {
    await createByOther('other');
    const reply = await gateway.send('POST', '/oauth2/introspect', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${token}`,
    });
    expect([reply.status, reply.json.active]).toEqual([503, undefined]);
  });
});
