import { encodeGlobalID } from '@pothos/plugin-relay';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { issueApiToken, revokeApiToken, rotateApiToken } from '../src/api-tokens/api-tokens.ts';
import { stampApiTokenUses } from '../src/api-tokens/statements.ts';
import { eventKey } from '../src/audit-log/events.ts';
import { deleteUserGroup, setUserGroupEnvironment, updateUserGroup } from '../src/user-groups/change.ts';
import { getOrCreateUserGroup, getOrCreateUserGroups } from '../src/user-groups/create.ts';
import { rotateUserGroupToken } from '../src/user-groups/rotate.ts';
import { currentTokenOf, findUserGroup, type Services } from '../src/user-groups/user-groups.ts';
import { redeliverEvents, sendTestEvent } from '../src/webhooks/deliveries.ts';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from '../src/webhooks/webhooks.ts';
import { callerWith } from './support/caller.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { bindQueries, bindUnit } from './support/queries.ts';

const caller = callerWith({
  id: 1,
  name: 'test',
  environmentTag: null,
  scopes: ['admin'],
});

let database: TestDatabase;
let services: Services;
/** The group and the API token that exist before each test. */
let token: string;
let apiTokenId: number;
let webhookId: number;
/** The ID of the event of its creation. */
let eventId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  services = bindQueries(database);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query(
    'truncate user_group, retired_token, revoked_viewer, api_token, retired_secret, signing_key, event, webhook, webhook_delivery',
  );
  const { userGroup } = await getOrCreateUserGroup(services, caller, { providedId: 'stored', properties: { plan: 'free' } });
  token = currentTokenOf(services, caller, userGroup);
  const request = { name: 'stored', environmentTag: null, scopes: ['admin'], expiresAt: null } as const;
  apiTokenId = (await issueApiToken(database.prisma, request)).apiToken.id;
  webhookId = (await createWebhook(services, { url: 'https://hooks.invalid/' }, author)).webhook.id;
  eventId = encodeGlobalID(
    'Event',
    eventKey(await database.prisma.event.findFirstOrThrow({ where: { type: 'webhook.created' } })),
  );
});

const { author } = caller;

const tables = [
  'user_group',
  'retired_token',
  'api_token',
  'retired_secret',
  'signing_key',
  'event',
  'webhook',
  'webhook_delivery',
];
const readAll = async () =>
  Promise.all(tables.map(async (table) => (await database.pool.query(`select t::text from ${table} t order by 1`)).rows));

const by = { providedId: 'stored' };
const newToken = { name: 'new', environmentTag: null, scopes: ['admin'], expiresAt: null } as const;

/** Every operation that writes through the client; each makes a change that another connection sees once it is committed. */
const writes: Readonly<Record<string, (services: Services) => Promise<unknown>>> = {
  'a creation': (transaction) => getOrCreateUserGroup(transaction, caller, { providedId: 'new' }),
  creations: (transaction) =>
    getOrCreateUserGroups(transaction, caller, [{ providedId: 'one' }, { providedId: 'two' }], { withJson: true }),
  'an update': (transaction) => updateUserGroup(transaction, caller, by, { name: 'changed' }),
  'a patch': (transaction) => updateUserGroup(transaction, caller, by, { mergeProperties: { plan: 'paid' } }),
  'a move': (transaction) => setUserGroupEnvironment(transaction, caller, by, 'Customer'),
  'a rotation with a grace period': (transaction) =>
    rotateUserGroupToken(transaction, caller, { currentToken: token, graceSeconds: 60 }),
  'a deletion': (transaction) => deleteUserGroup(transaction, caller, by, undefined),
  'the creation of an API token': (transaction) => issueApiToken(transaction.db, newToken),
  'the rotation of an API token': (transaction) => rotateApiToken(transaction.db, apiTokenId, 60),
  'the revocation of an API token': (transaction) => revokeApiToken(transaction.db, apiTokenId),
  'the use of an API token': (transaction) => stampApiTokenUses(transaction.sql, new Map([[apiTokenId, 0]])),
  'the creation of a webhook': (transaction) => createWebhook(transaction, { url: 'https://hooks.invalid/new' }, author),
  'the update of a webhook': (transaction) => updateWebhook(transaction, webhookId, { description: 'new' }, author),
  'the rotation of the secret of a webhook': (transaction) => rotateWebhookSecret(transaction, webhookId, 60, author),
  'the deletion of a webhook': (transaction) => deleteWebhook(transaction, webhookId, author),
  'a test event': (transaction) => sendTestEvent({ ...transaction, globalId: encodeGlobalID }, webhookId),
  'a redelivery': (transaction) => redeliverEvents({ ...transaction, globalId: encodeGlobalID }, webhookId, [eventId]),
  'the first signing key': (transaction) => transaction.embedTokens.signingKeys.list(),
  'the model API': (transaction) => transaction.db.userGroup.updateMany({ data: { name: 'changed' } }),
  'raw SQL': (transaction) => transaction.db.$executeRaw`update user_group set name = 'changed'`,
  'a transaction of Prisma': (transaction) =>
    transaction.db.$transaction(async (transaction) => transaction.userGroup.updateMany({ data: { name: 'changed' } })),
};

test.each(Object.entries(writes))(
  '%s belongs to the transaction: what is rolled back leaves no row and no event',
  async (_, write) => {
    const before = await readAll();
    const rolledBack = database.interactiveTransaction(async (transaction) => {
      await write(bindUnit(transaction));
      expect(await readAll(), 'before the commit').toEqual(before);
      throw new Error('roll back');
    });
    await expect(rolledBack).rejects.toThrow('roll back');
    expect(await readAll()).toEqual(before);
  },
);

test.each(Object.entries(writes))('%s is committed with the transaction', async (_, write) => {
  const before = await readAll();
  await database.interactiveTransaction((transaction) => write(bindUnit(transaction)));
  expect(await readAll()).not.toEqual(before);
});

test('reads see what the transaction wrote: shared statements, the model API and raw SQL', async () => {
  await database.interactiveTransaction(async (transaction) => {
    const inside = bindUnit(transaction);
    await updateUserGroup(inside, caller, by, { name: 'changed' });
    const { db } = inside;
    expect([
      (await findUserGroup(inside, caller, { token }))?.name,
      (await db.userGroup.findFirst({ where: by }))?.name,
      await db.userGroup.count({ where: { name: 'changed' } }),
      await db.$queryRaw`select name from user_group`,
      await db.$queryRawUnsafe('select name from user_group where name = $1', 'changed'),
    ]).toEqual(['changed', 'changed', 1, [{ name: 'changed' }], [{ name: 'changed' }]]);
  });
});
