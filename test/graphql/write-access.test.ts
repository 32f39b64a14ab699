import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Mutation, mutate } from '../support/user-group-mutations.ts';

let gateway: TestGateway;
let admin: string;
let foreign: string;

beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  foreign = (await gateway.issue({ environment: 'Customer' })).secret;
});
afterAll(() => gateway.close());

/** A new group of the Testing environment. */
const create = async (providedId: string) => (await mutate(gateway, 'getOrCreateUserGroup', { providedId })).userGroup;

interface Row {
  readonly mutation: Mutation;
  /** The input besides the selector. */
  readonly change: object;
  /** Whether it requires `admin`. */
  readonly admin?: true;
}

const rows: Row[] = [
  { mutation: 'updateUserGroup', change: { name: 'changed' } },
  { mutation: 'updateUserGroup', change: { mergeProperties: { changed: true } } },
  { mutation: 'deleteUserGroup', change: {} },
  { mutation: 'setUserGroupEnvironment', change: { environmentTag: 'CUSTOMER' }, admin: true },
];

const unknown: Record<string, object> = {
  id: { id: Buffer.from('UserGroup:2147483647').toString('base64') },
  'an id of nothing': { id: 'nothing' },
  teamId: { teamId: 2_147_483_647 },
  providedId: { providedId: 'no such group' },
  token: { token: 'no group has this token' },
};

describe.each(rows)('$mutation with $change', ({ mutation, change, admin: needsAdmin }) => {
  const label = `${mutation} ${JSON.stringify(change)}`;
  const permitted = () => (needsAdmin ? admin : gateway.token);

  test.each(['id', 'teamId', 'providedId', 'token'])('succeeds by %s', async (selector) => {
    const group = await create(`${label} ${selector}`);
    const result = await mutate(gateway, mutation, { by: { [selector]: group[selector] }, ...change }, permitted());
    expect(result.code).toBeUndefined();
    if (mutation === 'deleteUserGroup') expect(result.deletedId).toBe(group.id);
    else expect(result.userGroup).toMatchObject({ teamId: group.teamId, token: group.token });
  });

  test.each(Object.entries(unknown))('is NOT_FOUND by %s of no group', async (_, by) => {
    const result = await mutate(gateway, mutation, { by, ...change }, permitted());
    expect(result).toMatchObject({ __typename: 'NotFound', code: 'NOT_FOUND' });
  });

  // An admin is one of every environment.
  const foreigners = needsAdmin ? [] : [() => foreign];
  test.each(foreigners)('a group of another environment looks exactly like one that does not exist', async (token) => {
    const group = await create(`${label} foreign`);
    for (const selector of ['id', 'teamId', 'providedId', 'token']) {
      const found = await mutate(gateway, mutation, { by: { [selector]: group[selector] }, ...change }, token());
      const none = await mutate(gateway, mutation, { by: unknown[selector], ...change }, token());
      expect(found).toEqual(none);
    }
    expect((await mutate(gateway, 'getOrCreateUserGroup', { providedId: group.providedId })).userGroup).toEqual(group);
  });

  test.each([[{ providedId: '' }], [{ providedId: 'x'.repeat(256) }], [{ token: 'nul\0' }]])(
    'is INVALID_INPUT by %j',
    async (by) => {
      const result = await mutate(gateway, mutation, { by, ...change }, permitted());
      expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['by', Object.keys(by)[0]] }] });
    },
  );
});

test('an id that means two groups to an admin is INVALID_INPUT by every mutation', async () => {
  for (const environmentTag of ['CUSTOMER', 'TESTING']) {
    await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'twofold', environmentTag }, admin);
  }
  for (const { mutation, change } of rows) {
    const result = await mutate(gateway, mutation, { by: { providedId: 'twofold' }, ...change }, admin);
    expect(result).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['by', 'providedId'] }] });
  }
});
