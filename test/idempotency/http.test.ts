import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeApiToken } from '../../src/api-tokens/api-tokens.ts';
import type { ErrorCode } from '../../src/error-catalog.ts';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { parseIdempotencyKey } from '../../src/idempotency.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { connectTo } from '../support/connect.ts';
import { untilBlocked } from '../support/database.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { apiTokenId } from '../support/node-id.ts';
import { until } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());

let group: { readonly id: string; readonly token: string };
let last = 0;
beforeEach(async () => {
  last += 1;
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: `group ${last}` } });
  group = { id: `group ${last}`, token: json.user_group.token };
});

const withKey = (key: string, options: RequestOptions = {}): RequestOptions => ({
  ...options,
  headers: { ...options.headers, 'idempotency-key': key },
});
const replayed = ({ headers }: Reply) => headers.get('idempotency-replayed');
const codeOf = ({ json }: Reply): ErrorCode | undefined =>
  json.code ?? json.errors?.[0].extensions.code ?? json.data?.result?.code;

const mutation = (field: string, input: string, payload: string) =>
  `mutation { result: ${field}(input: ${input}) { ${payload} ... on Error { code message } } }`;
const embed = (id: string) =>
  mutation('createEmbedToken', `{ by: { providedId: "${id}" } }`, '... on CreateEmbedTokenPayload { token expiresAt }');
const createToken = (name: string) =>
  mutation(
    'createApiToken',
    `{ name: "${name}", scopes: [GROUPS_READ] }`,
    '... on CreateApiTokenPayload { secret apiToken { id name } }',
  );
const rotation = (token: string) =>
  mutation(
    'rotateUserGroupToken',
    `{ currentToken: "${token}", graceSeconds: 60 }`,
    '... on RotateUserGroupTokenPayload { userGroup { token } previousTokenExpiresAt }',
  );
const bulk = mutation(
  'getOrCreateUserGroups',
  '{ groups: [{ providedId: "bulk 1" }, { providedId: "" }, { providedId: "bulk 2", environmentTag: CUSTOMER }] }',
  '... on GetOrCreateUserGroupsPayload { results { ... on GetOrCreateUserGroupPayload { created userGroup { token } } ... on Error { code } } }',
);
const rename = (name: string, expectedVersion: number | null = null) =>
  mutation(
    'updateUserGroup',
    `{ by: { providedId: "${group.id}" }, name: "${name}", mergeProperties: { a: 1 }, expectedVersion: ${expectedVersion} }`,
    '... on UpdateUserGroupPayload { userGroup { name updatedAt } }',
  );
const deletion = () =>
  mutation('deleteUserGroup', `{ by: { providedId: "${group.id}" } }`, '... on DeleteUserGroupPayload { deletedId }');
const move = () =>
  mutation(
    'setUserGroupEnvironment',
    `{ by: { providedId: "${group.id}" }, environmentTag: CUSTOMER }`,
    '... on SetUserGroupEnvironmentPayload { userGroup { environmentTag updatedAt } }',
  );

/** Requests that must not be executed twice; each with a text that its first response must have. */
const requests: Readonly<Record<string, [expected: string, send: (options: RequestOptions) => Promise<Reply>]>> = {
  'PUT /api/user': [
    '"name":"renamed"',
    (options) => gateway.send('PUT', '/api/user', { ...options, body: { user_group_id: group.id, name: 'renamed' } }),
  ],
  'POST /api/user': [
    tokenPrefixes.userGroup,
    (options) => gateway.send('POST', '/api/user', { ...options, body: { current_token: group.token } }),
  ],
  rotateUserGroupToken: ['previousTokenExpiresAt', (options) => gateway.graphql(rotation(group.token), undefined, options)],
  updateUserGroup: ['"name":"other"', (options) => gateway.graphql(rename('other'), undefined, options)],
  'updateUserGroup of the expected version': [
    '"name":"expected"',
    (options) => gateway.graphql(rename('expected', 1), undefined, options),
  ],
  deleteUserGroup: ['deletedId', (options) => gateway.graphql(deletion(), undefined, options)],
  getOrCreateUserGroups: ['INVALID_INPUT', (options) => gateway.graphql(bulk, undefined, options)],
  createEmbedToken: ['"token":"ey', (options) => gateway.graphql(embed(group.id), undefined, { token: admin, ...options })],
  createApiToken: [
    tokenPrefixes.apiToken,
    (options) => gateway.graphql(createToken('created'), undefined, { token: admin, ...options }),
  ],
  setUserGroupEnvironment: ['CUSTOMER', (options) => gateway.graphql(move(), undefined, { token: admin, ...options })],
  rotateApiToken: [
    tokenPrefixes.apiToken,
    (options) =>
      gateway.graphql(
        mutation('rotateApiToken', `{ id: "${rotated}" }`, '... on RotateApiTokenPayload { secret apiToken { id } }'),
        undefined,
        { token: admin, ...options },
      ),
  ],
  revokeApiToken: [
    'revokedAt',
    (options) =>
      gateway.graphql(
        mutation('revokeApiToken', `{ id: "${rotated}" }`, '... on RevokeApiTokenPayload { apiToken { revokedAt } }'),
        undefined,
        { token: admin, ...options },
      ),
  ],
};
/** The ID of an API token. */
let rotated: string;
beforeAll(async () => {
  rotated = apiTokenId((await gateway.issue()).id);
});

/** The token of a Testing group whose id a Customer group has too. */
let heldToken: string;
beforeAll(async () => {
  const { secret } = await gateway.issue({ environment: 'Customer' });
  await gateway.send('GET', '/api/user', { token: secret, body: { user_group_id: 'held' } });
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'held' } });
  heldToken = json.user_group.token;
});

/** Requests that are refused, each with the code. */
const refused: Readonly<Record<string, [code: ErrorCode, send: (options: RequestOptions) => Promise<Reply>]>> = {
  'PUT /api/user of no group': [
    'NOT_FOUND',
    (options) => gateway.send('PUT', '/api/user', { ...options, body: { user_group_id: 'none' } }),
  ],
  'PUT /api/user with invalid members': [
    'INVALID_INPUT',
    (options) => gateway.send('PUT', '/api/user', { ...options, body: { user_group_id: 5 } }),
  ],
  'PUT /api/user of another version': [
    'VERSION_MISMATCH',
    ({ headers, ...options }) => {
      const body = { user_group_id: group.id, name: 'unexpected' };
      return gateway.send('PUT', '/api/user', { ...options, headers: { ...headers, 'if-match': '"2"' }, body });
    },
  ],
  'updateUserGroup of another version': [
    'VERSION_MISMATCH',
    (options) => gateway.graphql(rename('unexpected', 2), undefined, options),
  ],
  'deleteUserGroup of no group': [
    'NOT_FOUND',
    (options) => gateway.graphql(deletion().replace(group.id, 'none'), undefined, options),
  ],
  'setUserGroupEnvironment into a conflict': [
    'CONFLICT',
    (options) => {
      const document = move().replace(/providedId: "[^"]*"/, `token: "${heldToken}"`);
      return gateway.graphql(document, undefined, { token: admin, ...options });
    },
  ],
};

const eventCount = () => gateway.database.prisma.event.count();

test.each(Object.entries(requests))('%s: the same key gets the same response, and nothing happens again', async (name, each) => {
  const [expected, send] = each;
  const key = `same ${name}`;
  const first = await send(withKey(`"${key}"`));
  expect(first.text).toContain(expected);
  expect(replayed(first)).toBeNull();
  const events = await eventCount();

  for (let again = 0; again < 2; again += 1) {
    const repeated = await send(withKey(`"${key}"`));
    expect([repeated.status, repeated.text, replayed(repeated)]).toEqual([first.status, first.text, 'true']);
    expect(repeated.headers.get('content-type')).toBe(first.headers.get('content-type'));
  }
  expect(await eventCount()).toBe(events);
});

test.each(Object.entries(refused))('%s is evaluated each time: nothing is kept', async (name, [code, send]) => {
  const [events, records] = [await eventCount(), await gateway.database.prisma.idempotencyRecord.count()];
  const replies = [await send(withKey(name.replaceAll(' ', '-'))), await send(withKey(name.replaceAll(' ', '-')))];
  expect(replies.map((reply) => [codeOf(reply), replayed(reply)])).toEqual(Array(2).fill([code, null]));
  expect([await eventCount(), await gateway.database.prisma.idempotencyRecord.count()]).toEqual([events, records]);
});

test('a request that was refused is executed once it can be, with the same key', async () => {
  const send = () => gateway.send('PUT', '/api/user', withKey('later', { body: { user_group_id: 'later', name: 'renamed' } }));
  expect((await send()).status).toBe(404);
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'later' } });
  const done = await send();
  expect([done.status, replayed(done)]).toEqual([200, null]);
  const again = await send();
  expect([again.text, replayed(again)]).toEqual([done.text, 'true']);
});

describe('another request with the same key is rejected with 422', () => {
  const first = () => gateway.send('PUT', '/api/user', withKey('reused', { body: { user_group_id: group.id, name: 'first' } }));
  const others: Record<string, () => Promise<Reply>> = {
    'another body': () => gateway.send('PUT', '/api/user', withKey('reused', { body: { user_group_id: group.id } })),
    'another method': () => gateway.send('POST', '/api/user', withKey('reused', { body: { current_token: group.token } })),
    'another path': () => gateway.graphql(rename('second'), undefined, withKey('reused')),
    'the key in quotes': () => gateway.send('PUT', '/api/user/', withKey('"reused"', { body: { user_group_id: 'x' } })),
  };
  beforeEach(async () => {
    await gateway.database.prisma.idempotencyRecord.deleteMany();
    expect((await first()).status).toBe(200);
  });

  test.each(Object.entries(others))('%s', async (_, send) => {
    const reply = await send();
    expect([reply.status, codeOf(reply), reply.json.data]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: group.id } });
    expect(json.user_group).toMatchObject({ name: 'first', token: group.token });
  });

  test.each([
    ['variables', { variables: { name: 'b' } }],
    ['expected version', { variables: { name: 'a', version: 2 } }],
    ['operation', { operationName: 'B' }],
    ['document', { query: 'mutation A { deleteUserGroup(input: { by: { teamId: 1 } }) { __typename } }' }],
  ])('GraphQL: another %s, with the status also for application/json', async (_, change) => {
    const input = `{ by: { providedId: "${group.id}" }, name: $name, expectedVersion: $version }`;
    const query = ['A', 'B']
      .map((name) => `mutation ${name}($name: String, $version: Int) { updateUserGroup(input: ${input}) { __typename } }`)
      .join('\n');
    const body = { query, variables: { name: 'a' }, operationName: 'A' };
    const send = (sent: object) =>
      gateway.send('POST', '/graphql', withKey('graphql', { body: sent, headers: { accept: 'application/json' } }));
    await gateway.database.prisma.idempotencyRecord.deleteMany();
    expect(await send(body)).toMatchObject({
      status: 200,
      json: { data: { updateUserGroup: { __typename: 'UpdateUserGroupPayload' } } },
    });
    const reply = await send({ ...body, ...change });
    expect([reply.status, codeOf(reply), reply.json.data]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', undefined]);
    expect(replayed(await send(body))).toBe('true');
  });
});

test('each API token has keys of its own, and after its revocation nothing is sent again', async () => {
  const other = await gateway.issue();
  const send = (token: string) => gateway.send('PUT', '/api/user', withKey('own', { token, body: { user_group_id: group.id } }));
  expect([replayed(await send(gateway.token)), replayed(await send(other.secret))]).toEqual([null, null]);
  expect([replayed(await send(gateway.token)), replayed(await send(other.secret))]).toEqual(['true', 'true']);
  await revokeApiToken(contextOn(gateway.database), other.id);
  const reply = await send(other.secret);
  expect([reply.status, replayed(reply)]).toEqual([401, null]);
});

describe('a key can be used again after', () => {
  const valid = () => gateway.send('PUT', '/api/user', withKey('free', { body: { user_group_id: group.id, name: 'done' } }));
  const failures: Record<string, [expected: string, send: () => Promise<Reply>]> = {
    'malformed JSON': ['MALFORMED_JSON', () => gateway.send('PUT', '/api/user', withKey('free', { body: '{' }))],
    'an API token without the scope': [
      'FORBIDDEN',
      async () => {
        await gateway.database.pool.query(
          "update api_token set scopes = '{groups:read}' where id = (select min(id) from api_token)",
        );
        const reply = await gateway.send('PUT', '/api/user', withKey('free', { body: { user_group_id: group.id } }));
        const graphql = await gateway.graphql(rename('x'), undefined, withKey('free'));
        await gateway.database.pool.query(
          "update api_token set scopes = '{groups:read,groups:write}' where id = (select min(id) from api_token)",
        );
        expect(codeOf(graphql)).toBe('FORBIDDEN');
        return reply;
      },
    ],
    'several mutations': [
      'INVALID_INPUT',
      () =>
        gateway.graphql(
          `mutation { ...A b: deleteUserGroup(input: { by: { teamId: 1 } }) { __typename } }
           fragment A on Mutation { a: deleteUserGroup(input: { by: { teamId: 1 } }) { __typename } }`,
          undefined,
          withKey('free'),
        ),
    ],
    'variables of other types': [
      'INVALID_INPUT',
      () =>
        gateway.graphql(
          'mutation ($a: Int!) { a: deleteUserGroup(input: { by: { teamId: $a } }) { __typename } }',
          { a: 'x' },
          withKey('free'),
        ),
    ],
    'an internal error over REST': ['INTERNAL', () => broken(valid)],
    'an internal error over GraphQL': ['INTERNAL', () => broken(() => gateway.graphql(rename('x'), undefined, withKey('free')))],
  };

  /** Responds while events cannot be recorded: the first statement of the transaction succeeds, or none does. */
  async function broken(send: () => Promise<Reply>): Promise<Reply> {
    await gateway.database.pool.query('alter table event rename to gone');
    const reply = await send();
    await gateway.database.pool.query('alter table gone rename to event');
    return reply;
  }

  test.each(Object.entries(failures))('%s', async (_, [expected, send]) => {
    await gateway.database.prisma.idempotencyRecord.deleteMany();
    expect(codeOf(await send())).toBe(expected);
    expect(await gateway.database.prisma.idempotencyRecord.count()).toBe(0);
    const reply = await valid();
    expect([reply.status, replayed(reply)]).toEqual([200, null]);
  });
});

test('a request whose key is being used is rejected with 409, over REST and GraphQL', async () => {
  const holder = await gateway.database.pool.connect();
  try {
    await holder.query(`begin; select from user_group where provided_id = '${group.id}' for update`);
    const body = { current_token: group.token };
    const running = gateway.send('POST', '/api/user', withKey('"in use"', { body }));
    await untilBlocked(gateway.database);
    const replies = [
      await gateway.send('POST', '/api/user', withKey('"in use"', { body })),
      await gateway.graphql(rename('x'), undefined, withKey('"in use"', { headers: { accept: 'application/json' } })),
    ];
    for (const reply of replies) {
      expect([reply.status, codeOf(reply), reply.json.data]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE', undefined]);
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    await holder.query('commit');
    const first = await running;
    expect(first.status).toBe(200);
    const again = await gateway.send('POST', '/api/user', withKey('"in use"', { body }));
    expect([again.text, replayed(again)]).toEqual([first.text, 'true']);
  } finally {
    holder.release();
  }
});

test('a request whose connection was lost before the response arrived is answered from the record', async () => {
  const holder = await gateway.database.pool.connect();
  try {
    await holder.query(`begin; select from user_group where provided_id = '${group.id}' for update`);
    const body = JSON.stringify({ current_token: group.token });
    const socket = connectTo(gateway);
    socket.write(
      `POST /api/user HTTP/1.1\r\nHost: gateway\r\nAuthorization: Token ${gateway.token}\r\nIdempotency-Key: "lost"\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await untilBlocked(gateway.database);
    socket.resetAndDestroy();
    await holder.query('commit');
  } finally {
    holder.release();
  }
  const repeat = () => gateway.send('POST', '/api/user', withKey('"lost"', { body: { current_token: group.token } }));
  const again = await until(async () => {
    const reply = await repeat();
    return reply.status === 409 ? undefined : reply;
  }, 'the first request has ended');
  expect([again.status, replayed(again)]).toEqual([200, 'true']);
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: group.id } });
  expect(json.user_group.token).toBe(again.json.user_group.token);
  const where = { type: 'user_group.token_rotated', providedId: group.id };
  expect(await gateway.database.prisma.event.count({ where })).toBe(1);
});

test.each<[string, () => Promise<Reply>]>([
  ['GET /api/user', () => gateway.send('GET', '/api/user', withKey('ignored', { body: { user_group_id: group.id } }))],
  ['a query', () => gateway.graphql('{ caller { name } }', undefined, withKey('", malformed'))],
  ['a mutation of nothing', () => gateway.graphql('mutation { __typename }', undefined, withKey('ignored'))],
])('%s ignores the key', async (_, send) => {
  for (let again = 0; again < 2; again += 1) {
    const reply = await send();
    expect([reply.status, replayed(reply)]).toEqual([200, null]);
  }
});

describe('a key', () => {
  test.each([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['a/b+c=:!~', 'a/b+c=:!~'],
    ['"with a space, a comma; and \\"quotes\\" \\\\"', 'with a space, a comma; and "quotes" \\'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('%j is %j', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  test.each([
    '',
    '""',
    '"',
    'a, b',
    '"a", "b"',
    '"a";b=1',
    '"a',
    'a"',
    '"\\a"',
    'é',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
    '\\',
  ])('must not be %j', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(/Idempotency-Key must be/);
  });

  test('that is malformed is 400 INVALID_INPUT, and nothing is changed', async () => {
    const replies = [
      await gateway.send('POST', '/api/user', withKey('a, b', { body: { current_token: group.token } })),
      await gateway.graphql(rotation(group.token), undefined, withKey('a, b')),
    ];
    expect(replies.map((reply) => [reply.status, codeOf(reply)])).toEqual(Array(2).fill([400, 'INVALID_INPUT']));
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: group.id } });
    expect(json.user_group.token).toBe(group.token);
  });
});

test('a response is kept for 24 hours, then it counts no more, and the housekeeping removes it', async () => {
  const { prisma, pool } = gateway.database;
  await prisma.idempotencyRecord.deleteMany();
  const send = (key: string) => gateway.send('PUT', '/api/user', withKey(key, { body: { user_group_id: group.id } }));
  for (const key of ['young', 'old', 'forgotten']) await send(key);
  const age = async (interval: string, keys: string[]) =>
    pool.query(
      `update idempotency_record set created_at = now() - interval '${interval}' where key_hash = any(select sha256(k::bytea) from unnest($1::text[]) k)`,
      [keys],
    );
  await age('23 hours 59 minutes', ['young']);
  await age('24 hours', ['old', 'forgotten']);
  expect([replayed(await send('young')), replayed(await send('old'))]).toEqual(['true', null]);
  expect(replayed(await send('old'))).toBe('true');
  expect(await runHousekeeping(gateway.database, { retentionDays: 1 })).toMatchObject({ idempotencyRecords: 1 });
  expect(await prisma.idempotencyRecord.count()).toBe(2);
});
