import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { KeyRing } from '../../src/encryption/keys.ts';
import { encryptToken } from '../../src/encryption/stored-token.ts';
import { issueToken } from '../../src/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';
import { testKeys } from '../support/keys.ts';
import { readSamples, sampleValue } from '../support/prometheus.ts';

/** The keys of another gateway on the database, which the one under test lacks. */
const others = new KeyRing([randomBytes(32)]);
const [keyId = ''] = others.ids;

let database: TestDatabase;
/** One that has not logged that a key is missing. */
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

test('of each missing key, one request in a minute is logged', async () => {
  const second = new KeyRing([randomBytes(32)]);
  await createByOther('other');
  await createByOther('second', second);
  for (const id of ['other', 'second', 'other', 'second']) await getOrCreate(id);
  const logged = gateway.log.map((line) => [keyId, ...second.ids].find((id) => line.includes(id)));
  expect(logged.filter(Boolean)).toEqual([keyId, ...second.ids]);
});

test('requests that fail for a missing key are counted, and one of many in a minute is logged', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['metrics:read'] });
  const failures = async () => {
    const { text } = await gateway.send('GET', '/metrics', { token });
    return sampleValue(readSamples(text), 'gateway_missing_encryption_key_failures_total');
  };
  const before = await failures();
  await createByOther('other');
  for (let request = 0; request < 3; request += 1) await getOrCreate('other');
  await list('token');
  expect(missingKeyLines().map((line) => JSON.parse(line).level)).toEqual(['warn']);
  expect(await failures()).toBe(before + 4);
});

test('a gateway is not ready while it lacks the key that new groups use, and ready while it lacks another one', async () => {
  expect((await gateway.send('GET', '/readyz')).status).toBe(200); // without groups
  await createByOther('old');
  const unready = await gateway.send('GET', '/readyz');
  expect([unready.status, unready.text]).toEqual([503, expect.stringContaining(keyId)]);
  await getOrCreate('new');
  expect((await gateway.send('GET', '/readyz')).status).toBe(200);
});

test('a failure to look for the key is no outage of the database: /readyz is a 500, and the log has the cause', async () => {
  await createByOther('other');
  const reload = () => {
    throw new Error('the file cannot be read');
  };
  const failing = await startGateway(gateway.database, undefined, new KeyRing([randomBytes(32)], reload));
  onTestFinished(() => failing.close());
  const { status, text } = await failing.send('GET', '/readyz', { token: null });
  expect([status, text]).toEqual([500, expect.not.stringContaining('database')]);
  expect(failing.log.join()).toContain('the file cannot be read');
});

describe('a token that may be stored under a key that is missing', () => {
  const token = issueToken('userGroup');
  const graphql = (text: string) => gateway.graphql(text.replace('TOKEN', token));
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
  ];
  /** A token that another gateway has replaced. */
  async function retireByOther(expiresAt: Date) {
    await getOrCreate('own');
    const { teamId } = await gateway.database.prisma.userGroup.findFirstOrThrow();
    const retired = encryptToken(others, 'retired_token', issueToken('userGroup'));
    await gateway.database.prisma.retiredToken.create({ data: { ...retired, teamId, expiresAt } });
  }

  test('is found when a gateway that has the key stores it under one that is there, during the look-up', async () => {
    const store = (keys: KeyRing) => encryptToken(keys, 'user_group', token);
    const data = { providedId: 'moved', name: 'moved', environmentTag: 'Testing', ...store(others) } as const;
    await database.prisma.userGroup.create({ data });
    let isMoved = false;
    const query: TestDatabase['query'] = async (name, ...rest) => {
      const rows = await database.query(name, ...rest);
      if (name === 'groups-by-token' && !isMoved) {
        isMoved = true;
        await database.prisma.userGroup.updateMany({ where: { providedId: 'moved' }, data: store(testKeys) });
      }
      return rows;
    };
    const racing = await startGateway({ ...database, query });
    onTestFinished(() => racing.close());
    const { json } = await racing.graphql(`{ userGroup(by: { token: "${token}" }) { name } }`);
    expect([isMoved, json]).toEqual([true, { data: { userGroup: { name: 'moved' } } }]);
  });

  test.each(lookUps)('%s is UNAVAILABLE, names the key, and says that nothing was changed', async (_, send) => {
    await createByOther('other');
    const reply = await send();
    expect([reply.status, codeOf(reply)]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.text).toMatch(new RegExp(`${keyId}\\b.*\\bdoctor\\b.*Nothing was changed\\. It is safe to repeat\\.`));
    expect(reply.text).not.toContain('may have been made');
  });

  test.each(lookUps)('%s is UNAVAILABLE where only a replaced token is stored so, in its grace period', async (_, send) => {
    await retireByOther(new Date(Date.now() + 60_000));
    const reply = await send();
    expect([reply.status, codeOf(reply)]).toEqual([503, 'UNAVAILABLE']);
  });

  test.each(lookUps)('%s finds nothing where its grace period is over', async (_, send, status, json) => {
    await retireByOther(new Date(Date.now() - 1_000));
    expect(await send()).toMatchObject({ status, json });
  });

  test.each(lookUps)('%s finds nothing where no key is missing', async (_, send, status, json) => {
    await getOrCreate('own');
    expect(await send()).toMatchObject({ status, json });
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
