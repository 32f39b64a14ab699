import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { generateEncryptionKey, KeyRing } from '../../src/encryption/keys.ts';
import { reencryptAll } from '../../src/key-rotation.ts';
import { changeSilently } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';

// What somebody changes in psql is in the audit log, too.

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme', properties: { plan: 'free', seats: 1 } } });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.database.pool.query('truncate event'));

const group = () => gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: 'acme' } });
const events = async () => {
  const found = await gateway.database.prisma.event.findMany({ orderBy: { id: 'asc' } });
  return found.map(({ type, actorKind, actorName, changes }) => ({ type, actor: `${actorKind} ${actorName}`, changes }));
};
const byHand = (type: string, changes: unknown) => ({ type, actor: 'SYSTEM database', changes });
const from = (before: unknown, to: unknown) => ({ from: before, to });

test('an update has an event, the next version, and a later time, whatever it sets them to', async () => {
  const before = await group();
  const text = `update user_group set properties = '{"seats":1,"plan":"gold"}', version = 99, updated_at = '2000-01-01' where provided_id = 'acme'`;
  await gateway.database.pool.query(text);
  const after = await group();
  expect(after).toMatchObject({ version: before.version + 1, properties: { seats: 1, plan: 'gold' } });
  expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
  expect(await events()).toEqual([byHand('user_group.updated', { properties: from({ plan: 'free' }, { plan: 'gold' }) })]);
});

test('an update that changes nothing has none, and returns the row with its version and time', async () => {
  const { version, updatedAt } = await group();
  const text = `update user_group set name = name, version = 99, last_resolved_at = now() where provided_id = 'acme' returning version, updated_at`;
  expect((await gateway.database.pool.query(text)).rows).toEqual([{ version, updated_at: updatedAt }]);
  expect(await events()).toEqual([]);
});

test('a time is later than the one before it, also where the clock is behind', async () => {
  const ahead = new Date(Date.now() + 3_600_000);
  await changeSilently(gateway.database, `update user_group set updated_at = '${ahead.toISOString()}'`);
  await gateway.database.pool.query("update user_group set name = 'later'");
  expect((await group()).updatedAt.getTime()).toBe(ahead.getTime() + 1);
});

test.each<[string, unknown[]]>([
  [
    "insert into user_group (provided_id, name, token_hash, token_encrypted) values ('by hand', 'By hand', 'hash', 'text')",
    [byHand('user_group.created', { name: from(null, 'By hand') })],
  ],
  [
    "update user_group set token_hash = 'other' where provided_id = 'by hand'",
    [byHand('user_group.token_rotated', { token: from(null, null) })],
  ],
  ["delete from user_group where provided_id = 'by hand'", [byHand('user_group.deleted', null)]],
  [
    "insert into api_token (name, scopes, secret_hash) values ('by hand', '{admin}', 'hash')",
    [byHand('api_token.created', { name: from(null, 'by hand'), scopes: from(null, ['admin']) })],
  ],
  ["update api_token set last_used_at = now() where name = 'by hand'", []],
  ["delete from api_token where name = 'by hand'", [byHand('api_token.revoked', null)]],
  [
    "insert into webhook (url, types, environments, secret_encrypted, position) values ('https://user:secret@hooks.invalid:8443/a?b', '{}', '{}', 'x', 0)",
    [
      byHand('webhook.created', {
        webhook: from(null, expect.any(Number)),
        url: from(null, 'https://hooks.invalid:8443'),
        enabled: from(null, true),
      }),
    ],
  ],
  ['update webhook set position = 9, failing_since = now(), last_delivery_at = now()', []],
  ['delete from webhook', [byHand('webhook.deleted', { webhook: from(expect.any(Number), null) })]],
])('%s', async (text, expected) => {
  await gateway.database.pool.query(text);
  expect(await events()).toEqual(expected);
});

test('the actor of a request is not that of what its connection does next', async () => {
  await gateway.send('PUT', '/api/user', { body: { user_group_id: 'acme', name: 'by request' } });
  const client = await gateway.database.pool.connect();
  await client.query("update user_group set name = 'by hand' where provided_id = 'acme'");
  client.release();
  expect((await events()).map(({ actor }) => actor)).toEqual(['API_TOKEN test', 'SYSTEM database']);
});

test('every column of an audited table is an argument of its trigger, or bookkeeping', async () => {
  const bookkeeping = {
    user_group: ['team_id', 'token_encrypted', 'last_resolved_at', 'created_at', 'updated_at', 'version'],
    api_token: ['id', 'created_at', 'last_used_at'],
    webhook: [
      ...['id', 'previous_secret_encrypted', 'previous_secret_ends_at', 'position'],
      ...['failing_since', 'last_delivery_at', 'created_at'],
    ],
  };
  for (const [table, others] of Object.entries(bookkeeping)) {
    const { rows } = await gateway.database.pool.query(
      `select (select array_agg(attname::text) from pg_attribute where attrelid = tgrelid and attnum > 0) as columns,
        string_to_array(encode(tgargs, 'escape'), '\\000') as arguments
      from pg_trigger where tgrelid = $1::regclass and tgname = 'record_event'`,
      [table],
    );
    const { columns, arguments: args } = rows[0];
    const audited = args.filter((_: string, index: number) => index % 4 === 0 && index < args.length - 1);
    expect(new Set([...audited, ...others]), table).toEqual(new Set(columns));
  }
});

test('another encryption key for 1,000 groups changes neither their versions nor the audit log', async () => {
  const groups = Array.from({ length: 1_000 }, (_, index) => ({ providedId: `encrypted ${index}` }));
  const query =
    'mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { __typename } }';
  await gateway.graphql(query, { groups });
  const before = await events();
  expect(before).toHaveLength(1_000);
  const ring = new KeyRing([Buffer.from(generateEncryptionKey(), 'base64'), Buffer.from(testKey, 'base64')]);
  const { changed } = await reencryptAll(gateway.database, ring, () => {});
  expect(changed).toBeGreaterThanOrEqual(1_000);
  expect(await events()).toEqual(before);
  const where = { providedId: { startsWith: 'encrypted' }, version: 1 };
  expect(await gateway.database.prisma.userGroup.count({ where })).toBe(1_000);
});
