import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateEncryptionKey } from '../../src/encryption/keys.ts';
import { schema } from '../../src/schema.ts';
import { operations } from '../../src/user-groups/rest.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { endProcesses, run } from '../support/process.ts';
import { respondGone } from '../support/webhooks.ts';

let gateway: TestGateway;
let admin: { secret: string; id: number };
let folder: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = await gateway.issue({ environment: 'Testing', scopes: ['admin'] });
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-events-'));
});
afterAll(async () => {
  await endProcesses();
  await gateway.close();
  rmSync(folder, { recursive: true });
});

/** What the steps learn of each other. */
const known = { token: '', apiToken: '', webhook: '', webhookNumber: 0 };

/** Sends a mutation, and returns its payload. */
async function mutate(field: string, input: object, payload = '__typename', more = '') {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
  const query = `mutation ($input: ${type}Input!) { result: ${field}(input: $input${more}) { ... on ${type}Payload { ${payload} } ... on Error { message } } }`;
  const { json } = await gateway.graphql(query, { input }, { token: admin.secret });
  expect([json.errors, json.data.result.message]).toEqual([undefined, undefined]);
  return json.data.result;
}

async function rest(method: string, body: object) {
  const { status, json } = await gateway.send(method, '/api/user', { body, token: admin.secret });
  expect(status).toBe(200);
  if (json.user_group) known.token = json.user_group.token;
}

const settings = () => ({ DATABASE_URL: gateway.database.url, ENCRYPTION_KEYS: testKey });

async function command(...args: string[]) {
  const { code, stdout, stderr } = await run(args, settings());
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return stdout;
}

const by = { providedId: 'acme' };
const from = (before: unknown, to: unknown) => ({ from: before, to });
const webhookOf = (more: object) => ({ webhook: from(known.webhookNumber, known.webhookNumber), ...more });

type Expected = readonly [type: string, environment: string, changes: unknown];
type Step = readonly [name: string, operate: () => Promise<unknown>, expected: () => readonly Expected[]];

/** Every operation, in an order in which each has something to change, and its events. */
const steps: readonly Step[] = [
  [
    'getOrCreateUserGroup',
    async () => {
      const input = { ...by, name: 'ACME', properties: { plan: 'gold' }, mapping: [{ schemaId: 's', dataSource: 'd' }] };
      known.token = (await mutate('getOrCreateUserGroup', input, 'userGroup { token }')).userGroup.token;
    },
    () => [
      [
        'user_group.created',
        'Testing',
        { name: from(null, 'ACME'), properties: from(null, { plan: 'gold' }), mapping: from(null, { s: 'd' }) },
      ],
    ],
  ],
  ['getOrCreateUserGroup, of an existing one', () => mutate('getOrCreateUserGroup', { ...by, name: 'other' }), () => []],
  [
    'getOrCreateUserGroups',
    () => mutate('getOrCreateUserGroups', { groups: [by, { providedId: 'z' }, { providedId: 'a' }, { providedId: 'z' }] }),
    () => [
      ['user_group.created', 'Testing', { name: from(null, 'a') }],
      ['user_group.created', 'Testing', { name: from(null, 'z') }],
    ],
  ],
  [
    'updateUserGroup',
    () => mutate('updateUserGroup', { by, name: 'ACME', properties: { plan: 'free', seats: 2 } }),
    () => [['user_group.updated', 'Testing', { properties: from({ plan: 'gold' }, { plan: 'free', seats: 2 }) }]],
  ],
  [
    'updateUserGroup, a merge patch',
    () => mutate('updateUserGroup', { by, mergeProperties: { seats: null } }),
    () => [['user_group.updated', 'Testing', { properties: from({ seats: 2 }, {}) }]],
  ],
  [
    'updateUserGroup, with equal values',
    () => mutate('updateUserGroup', { by, name: 'ACME', properties: { plan: 'free' } }),
    () => [],
  ],
  [
    'rotateUserGroupToken',
    () => mutate('rotateUserGroupToken', { by, graceSeconds: 60 }),
    () => [['user_group.token_rotated', 'Testing', { token: from(null, null) }]],
  ],
  [
    'suspendUserGroup',
    () => mutate('suspendUserGroup', { by, reason: 'unpaid' }),
    () => [['user_group.suspended', 'Testing', { status: from('ACTIVE', 'SUSPENDED'), suspendedReason: from(null, 'unpaid') }]],
  ],
  [
    'suspendUserGroup, for another reason',
    () => mutate('suspendUserGroup', { by }),
    () => [['user_group.suspended', 'Testing', { suspendedReason: from('unpaid', null) }]],
  ],
  [
    'resumeUserGroup',
    () => mutate('resumeUserGroup', { by }),
    () => [['user_group.resumed', 'Testing', { status: from('SUSPENDED', 'ACTIVE') }]],
  ],
  ['resumeUserGroup, of an active one', () => mutate('resumeUserGroup', { by }), () => []],
  [
    'setUserGroupEnvironment',
    () => mutate('setUserGroupEnvironment', { by, environmentTag: 'CUSTOMER' }),
    () => [['user_group.environment_changed', 'Customer', { environmentTag: from('TESTING', 'CUSTOMER') }]],
  ],
  [
    'createEmbedToken, the first one',
    () => mutate('createEmbedToken', { by }),
    () => [['signing_key.rotated', 'None', { signingKey: from(null, expect.any(String)) }]],
  ],
  ['createEmbedToken', () => mutate('createEmbedToken', { by }), () => []],
  [
    'revokeEmbedTokens, of a viewer',
    () => mutate('revokeEmbedTokens', { by, viewerId: 'ada "A"' }),
    () => [['embed_token.revoked', 'Customer', { viewerId: from(null, 'ada "A"') }]],
  ],
  ['revokeEmbedTokens', () => mutate('revokeEmbedTokens', { by }), () => [['embed_token.revoked', 'Customer', null]]],
  [
    'deleteUserGroup',
    async () => {
      const group = await gateway.database.prisma.userGroup.findFirstOrThrow({ where: by });
      await mutate('deleteUserGroup', { by: { teamId: group.teamId } });
    },
    () => [['user_group.deleted', 'Customer', null]],
  ],
  [
    'createApiToken',
    async () => {
      const input = { name: 'new', environmentTag: 'CUSTOMER', scopes: ['GROUPS_READ'], rateLimit: 9 };
      const { apiToken } = await mutate('createApiToken', input, 'apiToken { id }');
      known.apiToken = apiToken.id;
    },
    () => [
      [
        'api_token.created',
        'Customer',
        {
          name: from(null, 'new'),
          environmentTag: from(null, 'CUSTOMER'),
          scopes: from(null, ['groups:read']),
          rateLimit: from(null, 9),
        },
      ],
    ],
  ],
  [
    'updateApiToken',
    () => mutate('updateApiToken', { id: known.apiToken, name: 'new', rateLimit: null, enabled: false }),
    () => [['api_token.updated', 'Customer', { rateLimit: from(9, null), enabled: from(true, false) }]],
  ],
  [
    'rotateApiToken',
    () => mutate('rotateApiToken', { id: known.apiToken }),
    () => [['api_token.rotated', 'Customer', { secret: from(null, null) }]],
  ],
  [
    'revokeApiToken',
    () => mutate('revokeApiToken', { id: known.apiToken }),
    () => [
      [
        'api_token.revoked',
        'Customer',
        { revokedAt: from(null, expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)) },
      ],
    ],
  ],
  ['revokeApiToken, again', () => mutate('revokeApiToken', { id: known.apiToken }), () => []],
  [
    'createWebhook',
    async () => {
      const input = { url: 'https://hooks.invalid/secret', environments: ['CUSTOMER', 'NONE'] };
      const { webhook } = await mutate('createWebhook', input, 'webhook { id number }');
      Object.assign(known, { webhook: webhook.id, webhookNumber: webhook.number });
    },
    () => [
      [
        'webhook.created',
        'None',
        {
          webhook: from(null, known.webhookNumber),
          url: from(null, 'https://hooks.invalid'),
          environments: from(null, ['CUSTOMER', 'NONE']),
          enabled: from(null, true),
        },
      ],
    ],
  ],
  [
    'updateWebhook',
    () => mutate('updateWebhook', { id: known.webhook, url: 'https://hooks.invalid/other', environments: null }),
    () => [
      [
        'webhook.updated',
        'None',
        webhookOf({
          url: from('https://hooks.invalid', 'https://hooks.invalid'),
          environments: from(['CUSTOMER', 'NONE'], null),
        }),
      ],
    ],
  ],
  [
    'rotateWebhookSecret',
    () => mutate('rotateWebhookSecret', { id: known.webhook, overlapSeconds: 60 }),
    () => [['webhook.updated', 'None', webhookOf({ secret: from(null, null) })]],
  ],
  ['sendTestEvent', () => mutate('sendTestEvent', { id: known.webhook }), () => []],
  [
    'redeliverEvents',
    async () => {
      const { json } = await gateway.graphql('{ eventFeed(after: "latest") { cursor } }', {}, { token: admin.secret });
      await mutate('redeliverEvents', { after: json.data.eventFeed.cursor }, '__typename', `, webhook: "${known.webhook}"`);
    },
    () => [],
  ],
  [
    'a webhook that fails',
    () => respondGone(gateway.database, known.webhookNumber),
    () => [
      [
        'webhook.disabled',
        'None',
        webhookOf({ enabled: from(true, false), disabledReason: from(null, 'The endpoint responded with 410 Gone.') }),
      ],
    ],
  ],
  [
    'deleteWebhook',
    () => mutate('deleteWebhook', { id: known.webhook }),
    () => [['webhook.deleted', 'None', { webhook: from(known.webhookNumber, null) }]],
  ],
  [
    'GET /api/user',
    () => rest('GET', { user_group_id: 'rest' }),
    () => [['user_group.created', 'Testing', { name: from(null, 'rest') }]],
  ],
  [
    'PUT /api/user',
    () => rest('PUT', { user_group_id: 'rest', mapping: { s: 'd' } }),
    () => [['user_group.updated', 'Testing', { mapping: from({}, { s: 'd' }) }]],
  ],
  [
    'POST /api/user',
    () => rest('POST', { current_token: known.token }),
    () => [['user_group.token_rotated', 'Testing', { token: from(null, null) }]],
  ],
  ['DELETE /api/user', () => rest('DELETE', { user_group_id: 'rest' }), () => [['user_group.deleted', 'Testing', null]]],
  ['QUERY /api/user', () => rest('QUERY', { user_group_id: 'a' }), () => []],
  [
    'groups import',
    () => {
      const file = join(folder, 'groups.ndjson');
      writeFileSync(file, '{"user_group_id":"a","name":"imported"}\n{"user_group_id":"new"}\n');
      return command('groups', 'import', file, '--environment', 'Testing', '--on-existing', 'update');
    },
    () => [
      [
        'user_group.imported',
        'None',
        {
          import: from(null, expect.any(String)),
          startedAt: from(null, expect.any(String)),
          created: from(null, 1),
          updated: from(null, 1),
        },
      ],
    ],
  ],
  [
    'keys rotate encryption',
    async () => {
      const keys = `${generateEncryptionKey()},${testKey}`;
      const { code } = await run(['keys', 'rotate', 'encryption'], { ...settings(), ENCRYPTION_KEYS: keys });
      expect(code).toBe(0);
    },
    () => [['encryption_key.rotated', 'None', { encryptionKey: from(expect.any(String), expect.any(String)) }]],
  ],
];

test('every operation records what it changed, and by whom', { timeout: 120_000 }, async () => {
  const { event } = gateway.database.prisma;
  for (const [name, operate, expected] of steps) {
    const { _max } = await event.aggregate({ _max: { id: true } });
    await operate();
    const events = await event.findMany({ where: { id: { gt: _max.id ?? 0n } }, orderBy: { id: 'asc' } });
    expect(
      events.map(({ type, environment, changes }) => [type, environment, changes]),
      name,
    ).toEqual(expected());
    for (const each of events) expect(each, name).toMatchObject(actorOf(name));
  }
});

function actorOf(name: string) {
  const none = { actorApiTokenId: null, requestId: null };
  if (/that fails/.test(name)) return { actorKind: 'SYSTEM', actorName: 'user-group-gateway', ...none };
  if (/^(?:groups|keys) /.test(name)) return { actorKind: 'CLI', actorName: userInfo().username, ...none };
  return { actorKind: 'API_TOKEN', actorName: 'test', actorApiTokenId: admin.id, requestId: expect.any(String) };
}

test('these are every mutation and every method of /api/user', () => {
  const names = steps.map(([name]) => name.split(',')[0]);
  const all = [
    ...Object.keys(schema.getMutationType()?.getFields() ?? {}),
    ...Object.keys(operations).map((method) => `${method} /api/user`),
  ];
  expect(names).toEqual(expect.arrayContaining(all));
});
