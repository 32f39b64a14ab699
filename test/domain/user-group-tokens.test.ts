import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceStoredTokens } from '../../src/database/queries/stored-tokens.ts';
import { Caller } from '../../src/domain/caller.ts';
import { reencryptAll } from '../../src/domain/key-rotation.ts';
import { KeyRing, MissingKey } from '../../src/domain/keys.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import { getOrCreateUserGroup } from '../../src/domain/user-group-creation.ts';
import { decryptToken, encryptToken } from '../../src/domain/user-group-tokens.ts';
import { currentTokenOf, type Db, findUserGroup, rotateUserGroupToken } from '../../src/domain/user-groups.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { bindQueries } from '../support/queries.ts';
import { dataFilesWith, dumpOf } from '../support/stored-text.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const scopes = ['groups:read', 'groups:write'];
const times = { createdAt: new Date(0), expiresAt: null, lastUsedAt: null };
const caller = new Caller({ id: 1, name: 'test', environmentTag: null, scopes, ...times });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const withKeys = (...keys: Buffer[]): Db => ({ ...bindQueries(database), keys: new KeyRing(keys) });

/** An instance that started before the key was added to its file. */
function behind(): Db {
  let isRead = false;
  const reload = () => {
    if (isRead) return undefined;
    isRead = true;
    return [newKey, oldKey];
  };
  return { ...bindQueries(database), keys: new KeyRing([oldKey], reload) };
}

let count = 0;
/** A new group, stored with the first key of `db`. */
async function createGroup(db: Db): Promise<{ id: string; token: string }> {
  count += 1;
  const id = `group ${count}`;
  const { userGroup } = await getOrCreateUserGroup(db, caller, { providedId: id });
  return { id, token: currentTokenOf(db, caller, userGroup) };
}

const idOf = async (db: Db, token: string) => (await findUserGroup(db, caller, { token }))?.providedId;
const tokenById = async (db: Db, providedId: string) => {
  const group = await findUserGroup(db, caller, { providedId });
  return group && currentTokenOf(db, caller, group);
};

test('a group that was stored with any configured key is found, shown, and rotated', async () => {
  const { id, token } = await createGroup(withKeys(oldKey));
  const db = withKeys(newKey, oldKey);
  expect([await idOf(db, token), await tokenById(db, id)]).toEqual([id, token]);
  const { userGroup } = await rotateUserGroupToken(db, caller, { currentToken: token, graceSeconds: 60 });
  const next = currentTokenOf(db, caller, userGroup);

  // From now on both tokens are stored with the new key.
  const fresh = withKeys(newKey);
  expect([await idOf(fresh, token), await idOf(fresh, next), await tokenById(fresh, id)]).toEqual([id, id, next]);
});

test('a group that a retired token finds shows its current token, not the one that found it', async () => {
  const db = withKeys(oldKey);
  const { token } = await createGroup(db);
  const { userGroup } = await rotateUserGroupToken(db, caller, { currentToken: token, graceSeconds: 60 });
  const found = await findUserGroup(db, caller, { token });
  expect(found && currentTokenOf(db, caller, found)).toBe(currentTokenOf(db, caller, userGroup));
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

test('without its key it is not known which group a token identifies, and the token of a group is not shown', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  const db = withKeys(oldKey);
  await expect(idOf(db, token)).rejects.toThrow(MissingKey);
  await expect(rotateUserGroupToken(db, caller, { currentToken: token })).rejects.toThrow(MissingKey);
  await expect(tokenById(db, id)).rejects.toThrow(MissingKey);
});

test('of calls for one new id that share an insertion, each returns the token that is stored', async () => {
  const db = withKeys(oldKey);
  const calls = Array.from({ length: 5 }, () => getOrCreateUserGroup(db, caller, { providedId: 'shared' }));
  const results = await Promise.all(calls);
  expect(results.filter(({ created }) => created)).toHaveLength(1);
  const tokens = new Set(results.map(({ userGroup }) => currentTokenOf(db, caller, userGroup)));
  expect([...tokens]).toEqual([await tokenById(withKeys(oldKey), 'shared')]);
});

test('a token that a request rotates while it is re-encrypted is the request’s', async () => {
  const [db, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { id, token } = await createGroup(db);
  const change = {
    previousHash: Buffer.from(db.keys.hash(token), 'hex'),
    ...encryptToken(both.keys, 'user_group', token),
  };
  const { userGroup } = await rotateUserGroupToken(db, caller, { currentToken: token });
  expect(await replaceStoredTokens(database, 'user_group', [change])).toBe(0);
  expect(await tokenById(both, id)).toBe(currentTokenOf(db, caller, userGroup));
});

test('a rotation that waits for the re-encryption of its row still finds it', async () => {
  const [db, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { token } = await createGroup(db);
  const { tokenHash, tokenEncrypted } = encryptToken(both.keys, 'user_group', token);
  const holder = await database.pool.connect();
  await holder.query('begin');
  const update = 'update user_group set token_hash = $1, token_encrypted = $2 where token_hash = $3';
  await holder.query(update, [tokenHash, tokenEncrypted, Buffer.from(db.keys.hash(token), 'hex')]);
  const rotation = rotateUserGroupToken(both, caller, { currentToken: token });
  await untilBlocked(database);
  await holder.query('commit');
  holder.release();
  expect(currentTokenOf(both, caller, (await rotation).userGroup)).not.toBe(token);
});

test('re-encryption changes nothing but the hash and the encrypted token', async () => {
  const db = withKeys(oldKey);
  const { id, token } = await createGroup(db);
  const before = await findUserGroup(db, caller, { providedId: id });
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
  const db = withKeys(newKey);
  const { id, token } = await createGroup(db);
  const found = await findUserGroup(db, caller, { token });
  expect(found && currentTokenOf(db, caller, found)).toBe(token);
  expect(JSON.stringify(found)).not.toContain(token);
  const { userGroup } = await rotateUserGroupToken(db, caller, { currentToken: token, graceSeconds: 60 });
  expect(currentTokenOf(db, caller, userGroup)).toHaveLength(issueToken('userGroup').length);
  expect(await dumpOf(database)).toContain(id);
  expect(await dumpOf(database)).not.toContain('ugt_');
  expect(await dataFilesWith(database, /ugt_/)).toEqual([]);
});
