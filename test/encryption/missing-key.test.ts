import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encryptToken, KeyRing } from '../../src/encryption/keys.ts';
import { issueToken } from '../../src/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';
import { readSamples, sampleValue } from '../support/prometheus.ts';

/** The keys of another gateway on the database, which the one under test lacks. */
const others = new KeyRing([randomBytes(32)]);
const [keyId = ''] = others.ids;

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query('truncate user_group cascade');
  gateway = await startGateway(database);
});
afterEach(() => gateway.close());
afterAll(() => database.close());

const createByOther = (providedId: string, keys = others) =>
  gateway.database.prisma.userGroup.create({
    data: {
      providedId,
      name: providedId,
      environmentTag: 'Testing',
      ...encryptToken(keys, 'user_group', issueToken('userGroup')),
    },
  });
const getOrCreate = (id: string) => gateway.send('GET', '/api/user', { body: { user_group_id: id } });
const list = (fields: string) => gateway.graphql(`{ userGroups { nodes { ${fields} } } }`);
/** The code of the failure, over either API. */
const codeOf = ({ json }: Reply) => json.code ?? json.errors[0].extensions.code;

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
    expect(reply.text).toMatch(new RegExp(`encryption key ${keyId}\\b.*\\bdoctor\\b.*may have been made.*safe to repeat`));
  }
});

test('a change with an Idempotency-Key whose result needs a key that is missing is not made, and names both', async () => {
  await createByOther('other');
  const { secret: token } = await gateway.issue({ scopes: ['groups:write', 'groups:read', 'audit:read'] });
  const { status, text } = await gateway.graphql(
    `mutation { updateUserGroup(input: { by: { providedId: "other" }, name: "changed" }) {
      ... on UpdateUserGroupPayload { userGroup { events { nodes { userGroup { token } } } } } } }`,
    {},
    { token, headers: { 'idempotency-key': 'key' } },
  );
  expect(status).toBe(503);
  expect(text).toMatch(new RegExp(`encryption key ${keyId}\\b.*\\bdoctor\\b.*Nothing was changed`));
  expect(text).not.toContain('may have been made');
  expect(await database.prisma.userGroup.count({ where: { name: 'changed' } })).toBe(0);
});

test('what needs no token of such a group is served', async () => {
  await createByOther('other');
  expect((await getOrCreate('own')).status).toBe(200);
  expect((await list('name')).json.data.userGroups.nodes).toEqual([{ name: 'own' }, { name: 'other' }]);
  expect((await gateway.graphql('{ userGroup(by: { providedId: "own" }) { token } }')).status).toBe(200);
});

test('requests that fail for a missing key are counted', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['metrics:read'] });
  const failures = async () => {
    const { text } = await gateway.send('GET', '/metrics', { token });
    return sampleValue(readSamples(text), 'gateway_missing_encryption_key_failures_total');
  };
  const before = await failures();
  await createByOther('other');
  for (let request = 0; request < 3; request += 1) await getOrCreate('other');
  expect(await failures()).toBe(before + 3);
});

describe('while tokens are stored under a key that is missing', () => {
  const token = issueToken('userGroup');
  const graphql = (text: string) => gateway.graphql(text.replace('TOKEN', token));
  /** Starts the gateway again, and waits until it has looked. */
  async function restart(status: 200 | 503): Promise<void> {
    await gateway.close();
    gateway = await startGateway(database);
    const isReady = async () => (await gateway.send('GET', '/readyz', { token: null })).status === 200;
    if (status === 503) while (await isReady()) await sleep(20);
    else expect(await isReady()).toBe(true);
  }
  /** Each with its response where no key is missing. */
  const lookUps: [string, () => Promise<Reply>, number, object][] = [
    ['a look-up', () => graphql('{ userGroup(by: { token: "TOKEN" }) { name } }'), 200, { data: { userGroup: null } }],
    [
      'an update',
      () => graphql('mutation { updateUserGroup(input: { by: { token: "TOKEN" } }) { __typename } }'),
      200,
      { data: { updateUserGroup: { __typename: 'NotFound' } } },
    ],
    [
      'a rotation',
      () => graphql('mutation { rotateUserGroupToken(input: { currentToken: "TOKEN" }) { __typename } }'),
      200,
      { data: { rotateUserGroupToken: { __typename: 'NotFound' } } },
    ],
    [
      'a rotation over REST',
      () => gateway.send('POST', '/api/user', { body: { current_token: token } }),
      404,
      { code: 'NOT_FOUND' },
    ],
    [
      'introspection',
      () =>
        gateway.send('POST', '/oauth2/introspect', {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `token=${token}`,
        }),
      200,
      { active: false },
    ],
  ];
  /** A token that another gateway has replaced. */
  async function retireByOther(expiresAt: Date) {
    await getOrCreate('own');
    const { teamId } = await gateway.database.prisma.userGroup.findFirstOrThrow();
    const retired = encryptToken(others, 'retired_token', issueToken('userGroup'));
    await gateway.database.prisma.retiredToken.create({ data: { ...retired, teamId, expiresAt } });
  }

  test('look-ups by token are UNAVAILABLE, name the key, and say that nothing was changed; the log names it once', async () => {
    await createByOther('other');
    await restart(503);
    for (const [name, send] of lookUps) {
      const reply = await send();
      expect([name, reply.status, codeOf(reply)]).toEqual([name, 503, 'UNAVAILABLE']);
      expect(reply.text).toMatch(new RegExp(`${keyId}\\b.*\\bdoctor\\b.*Nothing was changed\\. It is safe to repeat\\.`));
      expect(reply.text).not.toContain('may have been made');
    }
    expect(gateway.log.filter((line) => line.includes(`"key":"${keyId}"`))).toHaveLength(1);
    expect((await gateway.send('GET', '/readyz', { token: null })).text).toContain(keyId);
  });

  test('they are so for a replaced token in its grace period, too', async () => {
    await retireByOther(new Date(Date.now() + 600_000));
    await restart(503);
    expect((await (lookUps[0] as (typeof lookUps)[0])[1]()).status).toBe(503);
  });

  test.each(lookUps)('%s finds nothing where its grace period is over', async (_, send, status, json) => {
    await retireByOther(new Date(Date.now() - 1_000));
    await restart(200);
    expect(await send()).toMatchObject({ status, json });
  });
});
