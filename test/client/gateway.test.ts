import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ConflictError,
  InvalidInputError,
  NotFoundError,
  type RequestReport,
  SuspendedError,
  UserGroupGateway,
  VersionMismatchError,
} from '../../client/src/index.ts';
import type { Scope } from '../../src/scopes.ts';
import { introspectToken } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

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

test('creates a group once, and returns it as it is stored', async () => {
  const input = {
    providedId: 'acme',
    name: 'ACME',
    properties: { plan: 'gold' },
    mapping: [{ schemaId: '1', dataSource: 'eu' }],
  };
  const { userGroup, created } = await client.userGroups.getOrCreate(input);
  expect(created).toBe(true);
  expect(userGroup).toEqual({
    ...input,
    id: expect.any(String),
    teamId: expect.any(Number),
    environmentTag: 'TESTING',
    status: 'ACTIVE',
    suspendedReason: null,
    lastResolvedAt: null,
    token: expect.stringMatching(/^ugt_/),
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: expect.stringMatching(/Z$/),
    version: 1,
  });
  expect(await client.userGroups.getOrCreate({ providedId: 'acme', name: 'Another' })).toEqual({ userGroup, created: false });
  for (const by of [{ providedId: 'acme' }, { id: userGroup.id }, { teamId: userGroup.teamId }, { token: userGroup.token }])
    expect(await client.userGroups.get(by)).toEqual(userGroup);
  expect(await client.userGroups.get({ providedId: 'of no group' })).toBeNull();
});

test('every other operation', async () => {
  const admin = await clientWith('admin');
  const { userGroup } = await client.userGroups.getOrCreate({ providedId: 'used' });
  const by = { id: userGroup.id };
  const { userGroup: suspended } = await client.userGroups.suspend({ by, reason: 'unpaid' });
  expect(suspended).toMatchObject({ status: 'SUSPENDED', suspendedReason: 'unpaid' });
  expect(await client.resolveViewer(userGroup.token)).toBeNull();
  await expect(admin.embedTokens.create({ by })).rejects.toThrow(SuspendedError);
  expect((await client.userGroups.resume({ by })).userGroup).toMatchObject({ status: 'ACTIVE', suspendedReason: null });
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((id) => admin.embedTokens.create({ by, viewer: { id } })));
  expect((await admin.embedTokens.revoke({ by, viewerId: 'ann' })).userGroup.id).toBe(userGroup.id);
  const active = async (token = '') => (await introspectToken(gateway, gateway.token, token)).json.active;
  expect([await active(ann?.token), await active(bob?.token)]).toEqual([false, true]);
  expect((await admin.userGroups.setEnvironment({ by, environmentTag: 'CUSTOMER' })).userGroup.environmentTag).toBe('CUSTOMER');
  await client.userGroups.getOrCreate({ providedId: 'used' });
  await expect(admin.userGroups.setEnvironment({ by, environmentTag: 'TESTING' })).rejects.toThrow(ConflictError);
  expect(await admin.userGroups.delete({ by })).toEqual({ deletedId: userGroup.id });
  expect(await admin.userGroups.get(by)).toBeNull();
});

test('lists every group of a filter in its order, page by page', async () => {
  const names = ['list 1', 'list 2', 'list 3', 'list 4', 'list 5'];
  for (const name of names) await client.userGroups.getOrCreate({ providedId: name });
  const operations: string[] = [];
  const onRequest = ({ operation }: RequestReport) => void operations.push(operation);
  const reporting = new UserGroupGateway({ url: gateway.url, apiToken: gateway.token, onRequest });
  const list = reporting.userGroups.list({
    filter: { search: 'list' },
    orderBy: { field: 'NAME', direction: 'ASC' },
    pageSize: 2,
  });
  expect((await collect(list)).map(({ name }) => name)).toEqual(names);
  expect(operations).toEqual(['ListUserGroups', 'ListUserGroups', 'ListUserGroups']);
  expect(await collect(client.userGroups.list({ filter: { search: 'of no group' } }))).toEqual([]);
  expect((await collect(client.userGroups.list())).length).toBeGreaterThanOrEqual(5);
  await expect(collect(client.userGroups.list({ pageSize: 101 }))).rejects.toThrow(InvalidInputError);
});

test('changes a group, and not one that has changed since it was read', async () => {
  const by = { providedId: 'changed' };
  await client.userGroups.getOrCreate({ ...by, properties: { plan: 'silver', region: 'eu' } });
  const { userGroup } = await client.userGroups.update({ by, mergeProperties: { plan: 'gold' } });
  const { token, ...viewer } = userGroup;
  expect(userGroup).toMatchObject({ properties: { plan: 'gold', region: 'eu' }, version: 2 });
  const error = await client.userGroups.update({ by, name: 'X', expectedVersion: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(VersionMismatchError);
  // A log of the error has no token.
  expect(error).toMatchObject({ code: 'VERSION_MISMATCH', userGroup: viewer });
  expect(inspect(error)).not.toContain(token);
  await expect(client.userGroups.update({ by: { providedId: 'of no group' }, name: 'X' })).rejects.toThrow(NotFoundError);
});
