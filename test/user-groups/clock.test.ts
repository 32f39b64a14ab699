import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const dayMs = 86_400_000;
const startedMs = Date.now();

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

/** The clock of this process, in which the gateway runs. Only `Date` is set: timers continue. */
const setClock = (aheadDays: number) => {
  vi.useFakeTimers({ toFake: ['Date'], now: startedMs + aheadDays * dayMs });
};
beforeEach(() => () => void vi.useRealTimers());

async function mutate(field: string, selection: string, headers: Record<string, string> = {}) {
  const result = `... on Error { code message ... on InvalidInput { issues { path message } } }`;
  const document = `mutation { result: ${field} { __typename ${selection} ${result} } }`;
  return (await gateway.graphql(document, {}, { token: admin, headers })).json.data.result;
}

/** Every stored time that is more than two days from the database's clock. */
async function distantTimes(): Promise<unknown[]> {
  const { rows } = await gateway.database.pool.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone' and table_name <> '_prisma_migrations'`);
  const distant = rows.map(async ({ table, column }) => {
    const { rows: found } = await gateway.database.pool.query(
      `select '${table}.${column}' as column, ${column} as time from ${table} where abs(extract(epoch from ${column} - now())) > 172800`,
    );
    return found;
  });
  expect(rows.length).toBeGreaterThan(10);
  return (await Promise.all(distant)).flat();
}

test.each([400, -400])('a gateway whose clock is off by %d days stores the times of the database', async (days) => {
  setClock(days);
  const { userGroup } = await mutate(`getOrCreateUserGroup(input: { providedId: "of ${days}" })`, group);
  await mutate(`updateUserGroup(input: { by: { teamId: ${userGroup.teamId} }, name: "a" })`, '', {
    'idempotency-key': `k${days}`,
  });
  await mutate(`rotateUserGroupToken(input: { currentToken: "${userGroup.token}", graceSeconds: 3600 })`, '');
  const expiresAt = new Date(startedMs + dayMs).toISOString();
  const created = await mutate(
    `createApiToken(input: { name: "a", environmentTag: TESTING, scopes: [GROUPS_READ], expiresAt: "${expiresAt}" })`,
    '... on CreateApiTokenPayload { secret apiToken { id } }',
  );
  expect(created).toMatchObject({ __typename: 'CreateApiTokenPayload' });
  expect((await gateway.graphql('{ caller { id } }', {}, { token: created.secret })).status).toBe(200);
  await mutate(`rotateApiToken(input: { id: "${created.apiToken.id}", overlapSeconds: 3600 })`, '');
  await mutate(`revokeApiToken(input: { id: "${created.apiToken.id}" })`, '');
  await mutate(`createEmbedToken(input: { by: { teamId: ${userGroup.teamId} } })`, '');
  await mutate(`revokeEmbedTokens(input: { by: { teamId: ${userGroup.teamId} }, viewerId: "v" })`, '');
  await mutate(`suspendUserGroup(input: { by: { teamId: ${userGroup.teamId} } })`, '');
  const { webhook } = await mutate(
    'createWebhook(input: { url: "https://hooks.test/" })',
    '... on CreateWebhookPayload { webhook { id } }',
  );
  onTestFinished(async () => void (await gateway.database.prisma.webhook.deleteMany()));
  const ofWebhook = [
    `rotateWebhookSecret(input: { id: "${webhook.id}", overlapSeconds: 3600 })`,
    `sendTestEvent(input: { id: "${webhook.id}" })`,
  ];
  for (const field of ofWebhook) expect((await mutate(field, '')).__typename).toMatch(/Payload$/);
  const second = await startGateway(gateway.database); // records the uses when it stops
  await second.graphql('{ caller { id } }');
  await second.close();
  expect(await distantTimes()).toEqual([]);
});
const group = '... on GetOrCreateUserGroupPayload { userGroup { teamId token } }';

test('a gateway whose clock is ahead removes no event, response or replaced token that is to be kept', async () => {
  setClock(0);
  await mutate('getOrCreateUserGroup(input: { providedId: "kept" })', '', { 'idempotency-key': 'kept' });
  setClock(400);
  expect(await runHousekeeping(gateway.database, { retentionDays: 30 })).toEqual({
    events: 0,
    retiredTokens: 0,
    idempotencyRecords: 0,
    revokedViewers: 0,
    webhookDeliveries: 0,
    webhookSecrets: 0,
  });
});

test.each([400, -400])('a gateway whose clock is off by %d days says what has expired by that of the database', async (days) => {
  const { id: expired } = await gateway.issue({ expiresAt: new Date(startedMs - 60_000) });
  const { id: unexpired } = await gateway.issue({ expiresAt: new Date(startedMs + dayMs) });
  const webhook = (endsAtMs: number) =>
    gateway.database.prisma.webhook.create({
      data: {
        url: 'https://hooks.test/',
        secretEncrypted: Buffer.alloc(1),
        position: 0n,
        previousSecretEncrypted: Buffer.alloc(1),
        previousSecretEndsAt: new Date(endsAtMs),
      },
    });
  const [ended, signing] = [await webhook(startedMs - 60_000), await webhook(startedMs + dayMs)];
  setClock(days);
  const created = await mutate(
    'createApiToken(input: { name: "a", scopes: [GROUPS_READ], expiresInSeconds: 3600 })',
    '... on CreateApiTokenPayload { apiToken { number expiresAt expired } }',
  );
  expect(created.apiToken.expired).toBe(false);
  expect(Math.abs(Date.parse(created.apiToken.expiresAt) - startedMs - 3_600_000)).toBeLessThan(60_000);
  const query = '{ apiTokens { nodes { number expired } } webhooks { nodes { number previousSecretEndsAt } } }';
  const { data } = (await gateway.graphql(query, {}, { token: admin })).json;
  const states = new Map(data.apiTokens.nodes.map((node: { number: number; expired: boolean }) => [node.number, node.expired]));
  expect([expired, unexpired].map((id) => states.get(id))).toEqual([true, false]);
  expect(data.webhooks.nodes).toEqual([
    { number: signing.id, previousSecretEndsAt: signing.previousSecretEndsAt?.toISOString() },
    { number: ended.id, previousSecretEndsAt: null },
  ]);
  await gateway.database.prisma.webhook.deleteMany();
});
