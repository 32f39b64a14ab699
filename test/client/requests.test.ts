import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  ForbiddenError,
  GatewayError,
  InvalidInputError,
  NotFoundError,
  UnauthenticatedError,
  UserGroupGateway,
} from '../../client/src/index.ts';
import type { Scope } from '../../src/scopes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readPersisted } from '../support/persisted.ts';

let gateway: TestGateway;
let client: UserGroupGateway;
beforeAll(async () => {
  gateway = await startGateway();
  client = new UserGroupGateway({ url: gateway.url, apiToken: gateway.token });
});
afterAll(() => gateway.close());

const collect = <Item>(items: AsyncIterable<Item>): Promise<Item[]> => Readable.from(items).toArray();

const clientWith = async (...scopes: Scope[]) =>
  new UserGroupGateway({ url: gateway.url, apiToken: (await gateway.issue({ scopes })).secret });

test('errors have the code, the issues and the request id of the gateway', async () => {
  const error = await client.userGroups.getOrCreate({ providedId: '' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['providedId'], message: expect.any(String) }],
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
  });
  const unknown = new UserGroupGateway({ url: gateway.url, apiToken: 'of-no-api-token-at-all' });
  await expect(unknown.userGroups.get({ teamId: 1 })).rejects.toThrow(UnauthenticatedError);
  const reader = await clientWith('groups:read');
  await expect(reader.userGroups.getOrCreate({ providedId: 'x' })).rejects.toThrow(ForbiddenError);
});

test('a change is made once for a key of your own, whoever repeats it', async () => {
  const { userGroup } = await client.userGroups.getOrCreate({ providedId: 'keyed' });
  const rotate = (idempotencyKey: string) =>
    new UserGroupGateway({ url: gateway.url, apiToken: gateway.token }).userGroups.rotateToken(
      { currentToken: userGroup.token },
      { idempotencyKey },
    );
  const key = 'a "key" of a \\ rotation';
  const first = await rotate(key);
  expect(await rotate(key)).toEqual(first);
  for (const wrong of ['', 'two\nlines', 'x'.repeat(256)]) await expect(rotate(wrong)).rejects.toThrow(TypeError);
  await expect(rotate('another key')).rejects.toThrow(NotFoundError);
  const options = { idempotencyKey: key };
  await expect(client.userGroups.getOrCreate({ providedId: 'keyed' }, options)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
});

test.each([
  ['NaN', { plan: Number.NaN }, 'variables.input.mergeProperties.plan'],
  ['an infinite number in a list', { list: [1, { n: -1 / 0 }] }, 'variables.input.mergeProperties.list.1.n'],
  ['undefined in a list', { list: [undefined] }, 'variables.input.mergeProperties.list.0'],
  ['a function', { plan: () => 'gold' }, 'variables.input.mergeProperties.plan'],
])('%s is refused with its place: JSON has null or less for it, which removes a property', async (_, mergeProperties, place) => {
  const by = { providedId: 'exact' };
  await client.userGroups.getOrCreate({ ...by, properties: { plan: 'silver' } });
  const error = await client.userGroups.update({ by, mergeProperties: mergeProperties as object }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain(`${place}: `);
  expect(await client.userGroups.get(by)).toMatchObject({ properties: { plan: 'silver' }, version: 1 });
});

test('of a change whose result cannot be read as a whole, the error says that it may have been made', async () => {
  const writing = await clientWith('groups:write');
  await writing.userGroups.getOrCreate({ providedId: 'partly read' });
  const document = `mutation { updateUserGroup(input: { by: { providedId: "partly read" }, name: "made" }) {
    ... on UpdateUserGroupPayload { userGroup { name events(first: 1) { nodes { type } } } } } }`;
  const error = await writing.query(document).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ForbiddenError);
  expect(error).toMatchObject({ message: expect.stringMatching(/audit:read.* A change may have been made/) });
  expect(await client.userGroups.get({ providedId: 'partly read' })).toMatchObject({ name: 'made' });
});

test('a gateway with persisted operations executes those of the client, which its package lists', async () => {
  const content = readFileSync(new URL('../../client/operations.json', import.meta.url), 'utf8');
  const persistedOperations = await readPersisted({ 'operations.json': content });
  const strict = await startGateway(gateway.database, { introspection: true, persistedOperations });
  onTestFinished(() => strict.close());
  const restricted = new UserGroupGateway({ url: strict.url, apiToken: gateway.token });
  await restricted.userGroups.getOrCreate({ providedId: 'persisted' });
  expect(await collect(restricted.userGroups.list({ filter: { providedIds: ['persisted'] } }))).toHaveLength(1);
  await expect(restricted.query('{ caller { name } }')).rejects.toThrow(InvalidInputError);
});

test('the API token is not shown with the client', async () => {
  const { inspect } = await import('node:util');
  expect(inspect(client, { depth: null, showHidden: true }) + JSON.stringify(client)).not.toContain(gateway.token);
});
