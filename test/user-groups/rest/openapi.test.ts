import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../../src/database/client.ts';
import { userGroupLimits } from '../../../src/user-groups/attributes.ts';
import { sendText } from '../../support/connect.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { holdWrites } from '../../support/hold-writes.ts';
import { assertDocumented, openApiDocument, validatorOf } from '../../support/openapi.ts';
import { type Operation, operationsOf } from '../../support/openapi-document.ts';
import { comparable, contentOf, errorExamples } from '../../support/openapi-examples.ts';

const { maxJsonBytes, maxPropertiesDepth } = userGroupLimits;
const item = openApiDocument.paths['/api/user'] ?? {};
const documented = operationsOf(item);

describe('the examples of errors', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());

  test('have a command, but for those that no request causes by itself', () => {
    const without = errorExamples.filter(([, example]) => example['x-curl'] === undefined).map(([code]) => code);
    expect(without).toEqual(['REQUEST_TIMEOUT', 'IDEMPOTENCY_KEY_IN_USE', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE']);
  });

  test('REQUEST_TIMEOUT is the response to a body that does not arrive', async () => {
    gateway.server.headersTimeout = 100;
    gateway.server.requestTimeout = 100;
    const unended = 'PUT /api/user HTTP/1.1\r\nHost: gateway\r\nContent-Length: 10\r\n\r\n{';
    const [head = '', body = ''] = (await sendText(gateway, unended)).split('\r\n\r\n');
    expect([head.slice(0, 13), comparable(JSON.parse(body))]).toEqual(['HTTP/1.1 408 ', exampleOf('REQUEST_TIMEOUT')]);
  });

  test('IDEMPOTENCY_KEY_IN_USE is the response while a request with the key is executed', async () => {
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
    const update = () =>
      gateway.send('PUT', '/api/user', {
        body: { user_group_id: 'acme', name: 'ACME' },
        headers: { 'idempotency-key': 'a-key' },
      });
    const held = await holdWrites(gateway.database.url);
    const first = update();
    await held.untilOneWaits();
    const second = await update();
    expect([second.status, comparable(second.json)]).toEqual([409, exampleOf('IDEMPOTENCY_KEY_IN_USE')]);
    await held.release();
    expect((await first).status).toBe(200);
  });
});

test.each([
  ['mapping', `${maxJsonBytes / 1024} KiB as JSON`],
  ['properties', `${maxJsonBytes / 1024} KiB and ${maxPropertiesDepth} levels`],
])('the limits of %s, which JSON Schema cannot express, are described', (member, limits) => {
  const given = item.get?.parameters?.find(({ name }) => name === member);
  const replaced = contentOf(item.put?.requestBody)?.schema.properties?.[member];
  for (const description of [given?.description, replaced?.description]) expect(description).toContain(limits);
});

/** The example of an error. */
const exampleOf = (code: string) => comparable(Object.fromEntries(errorExamples)[code]?.value);

test('a broken database gives the response of the example INTERNAL', async () => {
  const database = await createTestDatabase();
  const gateway = await startGateway(database);
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  await database.pool.query('drop table user_group cascade');
  const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: 'other' } });
  expect(comparable(reply.json)).toEqual(exampleOf('INTERNAL'));
  await gateway.close();
  await database.close();
});

test('a database that takes no writes gives the response of the example UNAVAILABLE', async () => {
  const database = await createTestDatabase();
  const readOnly = connectDatabase({ connectionString: `${database.url}?options=-c%20default_transaction_read_only%3Don` });
  const gateway = await startGateway({ ...readOnly, prisma: database.prisma, url: database.url });
  const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  expect([reply.status, comparable(reply.json)]).toEqual([503, exampleOf('UNAVAILABLE')]);
  await gateway.close();
  await readOnly.close();
  await database.close();
});

describe('a request is accepted exactly when the document permits it', () => {
  let gateway: TestGateway;
  let token: string;
  beforeAll(async () => {
    gateway = await startGateway();
    const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
    token = json.user_group.token;
  });
  afterAll(() => gateway.close());

  const longest = 'x'.repeat(255);
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, 'd']));
  const values: Record<string, readonly unknown[]> = {
    user_group_id: ['acme', longest, `${longest}x`, '😀'.repeat(255), '😀'.repeat(256), '', 5, null, undefined, []],
    name: ['n', longest, `${longest}x`, '', 5, null, undefined, {}],
    mapping: [
      {},
      { a: 'b' },
      { '': '' },
      { a: 5 },
      { a: `${longest}x` },
      { [`${longest}x`]: '' },
      entries(1_000),
      entries(1_001),
      [],
      'a',
      null,
    ],
    properties: [{}, { a: [1, null] }, [], 'a', 5, null],
    current_token: ['', 5, null, undefined, `${longest}x`],
  };

  test.each(documented)('%s', async (method, operation) => {
    const differences: unknown[] = [];
    const members = membersOf(operation);
    for (const { name, isRequired, permits } of members) {
      for (const value of values[name] ?? []) {
        const body: Record<string, unknown> = method === 'POST' ? { current_token: token } : { user_group_id: 'acme' };
        body[name] = value;
        const { status, json } = await gateway.send(method, '/api/user', { body });
        const isPermitted = value === undefined ? !isRequired : permits(value);
        if ((status === 200 || status === 404) !== isPermitted) differences.push([name, value, status, json]);
      }
    }
    expect(differences).toEqual([]);
    expect(members.length).toBeGreaterThan(0);
  });

  /** The members of a request, and whether the document permits a value of each. */
  function membersOf({ requestBody, parameters = [] }: Operation) {
    const { properties = {}, required = [] } = contentOf(requestBody)?.schema ?? {};
    const ofBody = Object.entries(properties).map(([name, schema]) => {
      return { name, isRequired: required.includes(name), permits: (value: unknown) => validatorOf(schema)(value) === true };
    });
    // A parameter cannot be null; the description says that an optional member in a body may be.
    const ofQuery = parameters.map(({ name, required: isRequired = false, schema: { contentSchema, ...schema } }) => {
      const permits = (value: unknown) => (value === null ? !isRequired : validatorOf(contentSchema ?? schema)(value) === true);
      return { name, isRequired, permits };
    });
    return requestBody ? ofBody : ofQuery;
  }
});

describe('the check of responses', () => {
  const success = { success: 1, user_group: { team_id: 1, token: 't', name: 'n', provided_id: 'p', api_environment_tag: null } };
  const failure = Object.fromEntries(errorExamples)['NOT_FOUND']?.value as object;
  const response = (status: number, json: unknown, headers: Record<string, string> = {}) => ({
    status,
    json,
    headers: new Headers({
      'x-request-id': 'x',
      'content-type': status === 200 ? 'application/json' : 'application/problem+json',
      ...(status === 200 && { etag: '"1"' }),
      ...headers,
    }),
  });

  test('accepts what is documented', () => {
    assertDocumented('POST', '/api/user', response(200, success));
    assertDocumented('POST', '/api/user/?a=b', response(404, failure));
  });

  test.each([
    ['a member that is not documented', 200, { ...success, extra: 1 }, {}],
    ['a member of the group that is not documented', 200, { ...success, user_group: { ...success.user_group, mapping: {} } }, {}],
    ['a member that is missing', 200, { success: 1 }, {}],
    ['a member of another type', 200, { ...success, success: true }, {}],
    ['a status that is not documented', 202, success, {}],
    ['a status of another operation', 409, { ...failure, status: 409, code: 'CONFLICT' }, {}],
    ['a code of another status', 404, { ...failure, code: 'CONFLICT' }, {}],
    ['a code that does not exist', 404, { ...failure, code: 'NOTHING' }, {}],
    ['a member of a problem that is not documented', 404, { ...failure, hint: '' }, {}],
    ['another media type', 200, success, { 'content-type': 'text/plain' }],
    ['no WWW-Authenticate', 401, { ...failure, status: 401, code: 'UNAUTHENTICATED' }, {}],
  ])('rejects %s', (_, status, json, headers) => {
    expect(() => assertDocumented('POST', '/api/user', response(status, json, headers))).toThrow('openapi.yaml');
  });

  test('rejects a success of a request that is not documented', () => {
    const check = (body: object) => assertDocumented('POST', '/api/user', response(200, success), body);
    check({ current_token: 'ugt_', grace_seconds: 1 });
    expect(() => check({ current_token: 5 })).toThrow('/current_token must be string');
  });
});
