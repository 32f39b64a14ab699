import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeyRing, MissingKey } from '../../src/encryption/keys.ts';
import { decryptToken, encryptToken } from '../../src/encryption/stored-token.ts';
import { reencryptAll } from '../../src/key-rotation/key-rotation.ts';
import { replaceStoredTokens } from '../../src/key-rotation/statements.ts';
import { issueToken } from '../../src/tokens.ts';
import { getOrCreateUserGroup } from '../../src/user-groups/create.ts';
import { rotateUserGroupToken } from '../../src/user-groups/rotate.ts';
import { currentTokenOf, findUserGroup, type Services } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { bindQueries } from '../support/queries.ts';
import { dataFilesWith, dumpOf } from '../support/stored-text.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const scopes = ['groups:read', 'groups:write'];
const caller = callerWith({ id: 1, name: 'test', environmentTag: null, scopes });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const withKeys = (...keys: Buffer[]): Services => ({ ...bindQueries(database), keys: new KeyRing(keys) });

/** An instance that started before the key was added to its file. */
function behind(): Services {
  let isRead = false;
  const reload = () => {
    if (isRead) return undefined;
    isRead = true;
    return [newKey, oldKey];
  };
  return { ...bindQueries(database), keys: new KeyRing([oldKey], reload) };
}

let count = 0;
/** A new group, stored with the first key of `services`. */
async function createGroup(services: Services): Promise<{ id: string; token: string }> {
  count += 1;
  const id = `group ${count}`;
  const { userGroup } = await getOrCreateUserGroup(services, caller, { providedId: id });
  return { id, token: currentTokenOf(services, caller, userGroup) };
}

const idOf = async (services: Services, token: string) => (await findUserGroup(services, caller, { token }))?.providedId;
const tokenById = async (services: Services, providedId: string) => {
  const group = await findUserGroup(services, caller, { providedId });
  return group && currentTokenOf(services, caller, group);
};

test('a group that was stored with any configured key is found, shown, and rotated', async () => {
  const { id, token } = await createGroup(withKeys(oldKey));
  const services = withKeys(newKey, oldKey);
  expect([await idOf(services, token), await tokenById(services, id)]).toEqual([id, token]);
  const { userGroup } = await rotateUserGroupToken(services, caller, { currentToken: token, graceSeconds: 60 });
  const next = currentTokenOf(services, caller, userGroup);

  // From now on both tokens are stored with the new key.
  const fresh = withKeys(newKey);
  expect([await idOf(fresh, token), await idOf(fresh, next), await tokenById(fresh, id)]).toEqual([id, id, next]);
});

test('a group that a retired token finds shows its current token, not the one that found it', async () => {
  const services = withKeys(oldKey);
  const { token } = await createGroup(services);
  const { userGroup } = await rotateUserGroupToken(services, caller, { currentToken: token, graceSeconds: 60 });
  const found = await findUserGroup(services, caller, { token });
  expect(found && currentTokenOf(services, caller, found)).toBe(currentTokenOf(services, caller, userGroup));
});

test.each([
  [
    'finds a group by its token',
    async ({ id, token }: { id: string; token: string }) => expect(await idOf(behind(), token)).toBe(id),
  ],
  ['shows a token', async ({ id, token }: { id: string; token: string }) => expect(await tokenById(behind(), id)).toBe(token)],
  [
    'rotates a token',
    async ({ token }: { id: string; token: string }) => {
      expect(await rotateUserGroupToken(behind(), caller, { currentToken: token })).toBeDefined();
    },
  ],
])('an instance that does not know a new key yet reads it from its file and %s', async (_, check) => {
  await check(await createGroup(withKeys(newKey)));
});

test('an instance that reads a new key while it looks up a token finds its group', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  const services = behind();
  const looking = idOf(services, token);
  expect(services.keys.refresh()).toBe(true); // as the timer does, or another request
  expect(await looking).toBe(id);
});

test('without its key it is not known which group a token identifies, and the token of a group is not shown', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  const services = withKeys(oldKey);
  await expect(idOf(services, token)).rejects.toThrow(MissingKey);
  await expect(rotateUserGroupToken(services, caller, { currentToken: token })).rejects.toThrow(MissingKey);
  await expect(tokenById(services, id)).rejects.toThrow(MissingKey);
});

test('of calls for one new id that share an insertion, each returns the token that is stored', async () => {
  const services = withKeys(oldKey);
  const calls = Array.from({ length: 5 }, () => getOrCreateUserGroup(services, caller, { providedId: 'shared' }));
  const results = await Promise.all(calls);
  expect(results.filter(({ created }) => created)).toHaveLength(1);
  const tokens = new Set(results.map(({ userGroup }) => currentTokenOf(services, caller, userGroup)));
  expect([...tokens]).toEqual([await tokenById(withKeys(oldKey), 'shared')]);
});

test('a token that a request rotates while it is re-encrypted is the request’s', async () => {
  const [services, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { id, token } = await createGroup(services);
  const change = {
    previousHash: Buffer.from(services.keys.hash(token), 'hex'),
    ...encryptToken(both.keys, 'user_group', token),
  };
  const { userGroup } = await rotateUserGroupToken(services, caller, { currentToken: token });
  expect(await replaceStoredTokens(database, 'user_group', [change])).toBe(0);
  expect(await tokenById(both, id)).toBe(currentTokenOf(services, caller, userGroup));
});

test('a rotation that waits for the re-encryption of its row still finds it', async () => {
  const [services, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { token } = await createGroup(services);
  const { tokenHash, tokenEncrypted } = encryptToken(both.keys, 'user_group', token);
  const holder = await database.pool.connect();
  await holder.query('begin');
  const update = 'update user_group set token_hash = $1, token_encrypted = $2 where token_hash = $3';
  await holder.query(update, [tokenHash, tokenEncrypted, Buffer.from(services.keys.hash(token), 'hex')]);
  const rotation = rotateUserGroupToken(both, caller, { currentToken: token });
  await untilBlocked(database);
  await holder.query('commit');
  holder.release();
  expect(currentTokenOf(both, caller, (await rotation).userGroup)).not.toBe(token);
});

test('re-encryption changes nothing but the hash and the encrypted token', async () => {
  const services = withKeys(oldKey);
  const { id, token } = await createGroup(services);
  const before = await findUserGroup(services, caller, { providedId: id });
  const both = withKeys(newKey, oldKey);
  const progress: [number, number][] = [];
  const result = await reencryptAll(database, both.keys, (...step) => void progress.push(step));
  expect(result).toEqual({ changed: expect.any(Number), remaining: [], problems: [] });
  expect(progress.at(-1)).toEqual([result.changed, result.changed]);
  const after = await findUserGroup(both, caller, { providedId: id });
  expect(after?.updatedAt).toEqual(before?.updatedAt);
  expect(after && decryptToken(withKeys(newKey).keys, 'user_group', after)).toBe(token);
  expect(await reencryptAll(database, both.keys, () => {})).toMatchObject({ changed: 0, remaining: [] });
});

test('a token that cannot be decrypted is left as it is, and reported', async () => {
  const [lost, found] = [await createGroup(withKeys(oldKey)), await createGroup(withKeys(oldKey))];
  const { id } = lost;
  const spoil = 'update user_group set token_encrypted = set_byte(token_encrypted, 20, 1 - get_byte(token_encrypted, 20) % 2)';
  await database.pool.query(`${spoil} where provided_id = $1`, [id]);
  const both = withKeys(newKey, oldKey);
  const { changed, remaining, problems } = await reencryptAll(database, both.keys, () => {});
  expect([changed, problems]).toEqual([1, [expect.stringContaining('cannot be decrypted')]]);
  expect(remaining).toEqual([{ table: 'user_group', id: new KeyRing([oldKey]).ids[0], rows: 1 }]);
  expect(await tokenById(withKeys(newKey), found.id)).toBe(found.token);
  await database.prisma.userGroup.deleteMany({ where: { providedId: id } });
});

test('no token is in a row, in a data file of the database, or in what is printed of a group', async () => {
  const services = withKeys(newKey);
  const { id, token } = await createGroup(services);
  const found = await findUserGroup(services, caller, { token });
  expect(found && currentTokenOf(services, caller, found)).toBe(token);
  expect(JSON.stringify(found)).not.toContain(token);
  const { userGroup } = await rotateUserGroupToken(services, caller, { currentToken: token, graceSeconds: 60 });
  expect(currentTokenOf(services, caller, userGroup)).toHaveLength(issueToken('userGroup').length);
  expect(await dumpOf(database)).toContain(id);
  expect(await dumpOf(database)).not.toContain('ugt_');
  expect(await dataFilesWith(database, /ugt_/)).toEqual([]);
});
