import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { userGroupLimits } from '../../src/domain/limits.ts';
import type { Example, Operation } from '../../src/http/openapi/types.ts';
import { operations } from '../../src/rest/user.ts';
import { createTestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { assertDocumented, openApiDocument, validatorAt } from '../support/openapi.ts';

const { maxPropertiesBytes, maxPropertiesDepth } = userGroupLimits;
const run = promisify(execFile);
const item = openApiDocument.paths['/api/user'] ?? {};
const documented: [method: string, operation: Operation][] = (['get', 'put', 'post'] as const).flatMap((method) => {
  const operation = item[method];
  return operation ? [[method.toUpperCase(), operation] as [string, Operation]] : [];
});

/** Every example of an operation, in the order of the document. */
const examples = documented.flatMap(([method, { responses }]) =>
  Object.entries(responses).flatMap(([status, { content = {} }]) =>
    Object.values(content).flatMap(({ examples: own = {} }) =>
      Object.entries(own).map(([name, example]) => ({ method, status: Number(status), name, example })),
    ),
  ),
);
const otherMethod = Object.values(item['x-other-methods']?.content ?? {}).flatMap(({ examples: own = {} }) => Object.values(own));

/** Sends a request without the end of its body, and returns all that comes back. */
async function sendUnended(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write('PUT /api/user HTTP/1.1\r\nHost: gateway\r\nContent-Length: 10\r\n\r\n{');
  const chunks = await socket.toArray();
  return Buffer.concat(chunks).toString();
}

/** A body without what differs each time. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, member) => {
    if (name === 'request_id') return 'any';
    if (name === 'token') return String(member).replace(/^ugt_[0-9A-Za-z]{36}$/, 'ugt_');
    // What follows is the JSON parser's own text, which differs between versions of Node.js.
    if (name === 'detail') return String(member).replace(/(?<=is not valid JSON: ).*/, '');
    return member;
  });
}

test('every operation is documented, QUERY in the description of GET', () => {
  expect(new Set(Object.keys(operations))).toEqual(new Set([...documented.map(([method]) => method), 'QUERY']));
  expect(item.get?.description).toContain('QUERY');
});

test.each(documented)('%s has an example of each status and each code', (_, { responses }) => {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const [body] = Object.values(content);
    const codes = body?.schema.allOf?.[1]?.properties?.['code']?.enum ?? [];
    const names = Object.keys(body?.examples ?? {});
    expect.soft([status, names.length > 0]).toEqual([status, true]);
    if (codes.length > 0) expect.soft(new Set(names)).toEqual(new Set(codes));
  }
});

test('the limits of properties, which JSON Schema cannot express, are described', () => {
  const properties = item.get?.parameters?.find(({ name }) => name === 'properties');
  const replaced = Object.values(item.put?.requestBody?.content ?? {})[0]?.schema.properties?.['properties'];
  for (const description of [properties?.description, replaced?.description]) {
    expect(description).toContain(`${maxPropertiesBytes / 1024} KiB and ${maxPropertiesDepth} levels`);
  }
});

describe('the examples', () => {
  let gateway: TestGateway;
  let variables: Record<string, string>;
  beforeAll(async () => {
    gateway = await startGateway();
    const readOnly = await gateway.issue({ scopes: ['groups:read'] });
    const untagged = await gateway.issue({ environment: null });
    variables = {
      ...{ GATEWAY: gateway.url, API_TOKEN: gateway.token },
      ...{ READ_ONLY_API_TOKEN: readOnly.secret, UNTAGGED_API_TOKEN: untagged.secret },
    };
  });
  afterAll(() => gateway.close());

  /** Runs the commands of an example, with the group's token of the response before it. */
  const execute = async ({ 'x-curl': command = '' }: Example) => {
    const env = { PATH: process.env['PATH'], ...variables };
    const { stdout } = await run('sh', ['-c', command.replaceAll('curl -sS', String.raw`curl -sS -w '\n%{http_code}'`)], { env });
    const [text = '', status] = stdout.split('\n');
    const body = JSON.parse(text) as { user_group?: { provided_id: string; token: string } };
    if (body.user_group?.provided_id === 'acme') variables['USER_GROUP_TOKEN'] = body.user_group.token;
    return { status: Number(status), body: comparable(body) };
  };

  const withCommand = examples.filter(({ example }) => example['x-curl'] !== undefined);

  test.each(withCommand)('$method, status $status: the command of $name gets the response', async ({ status, example }) => {
    expect(await execute(example)).toEqual({ status, body: comparable(example.value) });
  });

  test.each(otherMethod)('$summary gets the response to other methods', async (example) => {
    expect(await execute(example)).toEqual({ status: 405, body: comparable(example.value) });
  });

  test('a body that does not arrive gets the response of the example REQUEST_TIMEOUT', async () => {
    gateway.server.headersTimeout = 100;
    gateway.server.requestTimeout = 100;
    const [head = '', body = ''] = (await sendUnended(Number(new URL(gateway.url).port))).split('\r\n\r\n');
    expect([head.slice(0, 13), comparable(JSON.parse(body))]).toEqual(['HTTP/1.1 408 ', exampleOf('REQUEST_TIMEOUT')]);
  });
});

test('only failures that no request causes by itself have no command', () => {
  const names = examples.filter(({ example }) => example['x-curl'] === undefined).map(({ name }) => name);
  expect(new Set(names)).toEqual(
    new Set(['REQUEST_TIMEOUT', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE', 'INTERNAL', 'UNAVAILABLE']),
  );
});

/** The example of a failure that no request causes by itself. */
const exampleOf = (code: string) => comparable(examples.find(({ name }) => name === code)?.example.value);

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

  test.each(documented)('%s', async (method, { requestBody, parameters = [] }) => {
    const bodyMembers = Object.keys(Object.values(requestBody?.content ?? {})[0]?.schema.properties ?? {});
    const members = requestBody ? bodyMembers : parameters.map(({ name }) => name);
    const differences: unknown[] = [];
    for (const member of members) {
      for (const value of values[member] ?? []) {
        const body: Record<string, unknown> = method === 'POST' ? { current_token: token } : { user_group_id: 'acme' };
        body[member] = value;
        const { status, json } = await gateway.send(method, '/api/user', { body });
        const isAccepted = status === 200 || status === 404;
        if (isAccepted !== isPermitted(method, member, value)) differences.push([member, value, status, json]);
      }
    }
    expect(differences).toEqual([]);
    expect(members.length).toBeGreaterThan(0);
  });

  /** Whether the document permits a value of a member; `undefined` stands for leaving it out. */
  function isPermitted(method: string, member: string, value: unknown): boolean {
    const name = method.toLowerCase() as 'get' | 'put' | 'post';
    const at = ['paths', '/api/user', name];
    const { requestBody, parameters = [] } = item[name] as Operation;
    if (requestBody) {
      const required = Object.values(requestBody.content)[0]?.schema.required ?? [];
      if (value === undefined) return !required.includes(member);
      const schema = ['requestBody', 'content', 'application/json', 'schema', 'properties', member];
      return validatorAt(...at, ...schema)(value) as boolean;
    }
    const index = parameters.findIndex((parameter) => parameter.name === member);
    const parameter = parameters[index];
    if (value === undefined) return !parameter?.required;
    // A parameter cannot be null; the description says which members may be in a body.
    if (value === null) return operations[method]?.nullable.includes(member) === true;
    const schema = parameter?.schema.contentSchema ? ['schema', 'contentSchema'] : ['schema'];
    return validatorAt(...at, 'parameters', String(index), ...schema)(value) as boolean;
  }
});

describe('the check of responses', () => {
  const success = { success: 1, user_group: { team_id: 1, token: 't', name: 'n', provided_id: 'p', api_environment_tag: null } };
  const failure = examples.find(({ name }) => name === 'NOT_FOUND')?.example.value as object;
  const response = (status: number, json: unknown, headers: Record<string, string> = {}) => ({
    ...{ status, json },
    headers: new Headers({
      ...{ 'x-request-id': 'x', 'content-type': status === 200 ? 'application/json' : 'application/problem+json' },
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
    expect(() => assertDocumented('POST', '/api/user', response(status, json, headers))).toThrow('OpenAPI');
  });
});
