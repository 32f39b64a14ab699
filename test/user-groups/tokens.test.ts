import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Context, contextOf } from '../../src/app.ts';
import type { Sql } from '../../src/database/client.ts';
import { decryptToken, encryptToken, KeyRing, MissingKey } from '../../src/encryption/keys.ts';
import { reencryptAll } from '../../src/key-rotation.ts';
import { rotateUserGroupToken } from '../../src/user-groups/change.ts';
import { getOrCreateUserGroup } from '../../src/user-groups/create.ts';
import type { Rotated } from '../../src/user-groups/sql.ts';
import { currentTokenOf, findUserGroup } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../support/database.ts';
import { appOn } from '../support/queries.ts';
import { dataFilesWith, dumpOf } from '../support/stored-text.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const scopes = ['groups:read', 'groups:write'];
const caller = callerWith({ id: 1, name: 'test', environmentTag: null, scopes });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const contextWith = (keys: KeyRing): Context => contextOf(appOn(database, keys), caller);
const withKeys = (...keys: Buffer[]): Context => contextWith(new KeyRing(keys));

/** An instance that started before the key was added to its file. */
function behind(): Context {
  let isRead = false;
  const reload = () => {
    if (isRead) return undefined;
    isRead = true;
    return [newKey, oldKey];
  };
  return contextWith(new KeyRing([oldKey], reload));
}

let count = 0;
/** A new group, stored with the first key of `context`. */
async function createGroup(context: Context): Promise<{ id: string; token: string }> {
  count += 1;
  const id = `group ${count}`;
  const { userGroup } = await getOrCreateUserGroup(context, { providedId: id });
  return { id, token: currentTokenOf(context, userGroup) };
}

const idOf = async (context: Context, token: string) => (await findUserGroup(context, { token }))?.providedId;
const tokenById = async (context: Context, providedId: string) => {
  const group = await findUserGroup(context, { providedId });
  return group && currentTokenOf(context, group);
};

test('a group that was stored with any configured key is found, shown, and rotated', async () => {
  const { id, token } = await createGroup(withKeys(oldKey));
  const context = withKeys(newKey, oldKey);
  expect([await idOf(context, token), await tokenById(context, id)]).toEqual([id, token]);
  const { userGroup } = await rotateUserGroupToken(context, { currentToken: token, graceSeconds: 60 });
  const next = currentTokenOf(context, userGroup);

  // From now on both tokens are stored with the new key.
  const fresh = withKeys(newKey);
  expect([await idOf(fresh, token), await idOf(fresh, next), await tokenById(fresh, id)]).toEqual([id, id, next]);
});

test('an instance that does not know a new key yet reads it from its file: to find, show and rotate a token', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  expect([await idOf(behind(), token), await tokenById(behind(), id)]).toEqual([id, token]);
  expect(await rotateUserGroupToken(behind(), { currentToken: token })).toBeDefined();
});

test('an instance that reads a new key while it looks up a token finds its group', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  const context = behind();
  const looking = idOf(context, token);
  expect(context.app.keys.refresh()).toBe(true); // as the timer does, or another request
  expect(await looking).toBe(id);
});

test('without its key it is not known which group a token identifies, and the token of a group is not shown', async () => {
  const { id, token } = await createGroup(withKeys(newKey));
  const context = withKeys(oldKey);
  context.app.keys.missing = new KeyRing([newKey]).ids[0]; // as a schedule finds out
  await expect(idOf(context, token)).rejects.toThrow(MissingKey);
  await expect(rotateUserGroupToken(context, { currentToken: token })).rejects.toThrow(MissingKey);
  await expect(tokenById(context, id)).rejects.toThrow(MissingKey);
});

test('a token that a request rotates while it is re-encrypted is the request’s', async () => {
  const [context, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { id, token } = await createGroup(context);
  let rotated: Promise<Rotated> | undefined;
  const sql: Sql = async (name, ...statement) => {
    if (name === 'replace-tokens-user_group') {
      rotated ??= rotateUserGroupToken(context, { currentToken: token });
      await rotated;
    }
    return database.sql(name, ...statement);
  };
  await reencryptAll({ ...database, sql }, both.app.keys, () => {});
  const { userGroup } = (await rotated) as Rotated;
  expect(await tokenById(both, id)).toBe(currentTokenOf(context, userGroup));
});

test('a rotation that waits for the re-encryption of its row still finds it', async () => {
  const [context, both] = [withKeys(oldKey), withKeys(newKey, oldKey)];
  const { token } = await createGroup(context);
  const { tokenHash, tokenEncrypted } = encryptToken(both.app.keys, 'user_group', token);
  const holder = await database.pool.connect();
  await holder.query('begin');
  const update = 'update user_group set token_hash = $1, token_encrypted = $2 where token_hash = $3';
  await holder.query(update, [tokenHash, tokenEncrypted, Buffer.from(context.app.keys.hash(token), 'hex')]);
  const rotation = rotateUserGroupToken(both, { currentToken: token });
  await untilBlocked(database);
  await holder.query('commit');
  holder.release();
  expect(currentTokenOf(both, (await rotation).userGroup)).not.toBe(token);
});

test('re-encryption changes nothing but the hash and the encrypted token', async () => {
  const context = withKeys(oldKey);
  const { id, token } = await createGroup(context);
  const before = await findUserGroup(context, { providedId: id });
  const both = withKeys(newKey, oldKey);
  const progress: [number, number][] = [];
  const result = await reencryptAll(database, both.app.keys, (...step) => void progress.push(step));
  expect(result).toEqual({ changed: expect.any(Number), remaining: [], problems: [] });
  expect(progress.at(-1)).toEqual([result.changed, result.changed]);
  const after = await findUserGroup(both, { providedId: id });
  expect(after?.updatedAt).toEqual(before?.updatedAt);
  expect(after && decryptToken(withKeys(newKey).app.keys, 'user_group', after)).toBe(token);
  expect(await reencryptAll(database, both.app.keys, () => {})).toMatchObject({ changed: 0, remaining: [] });
});

test('a token that cannot be decrypted is left as it is, and reported', async () => {
  const [lost, found] = [await createGroup(withKeys(oldKey)), await createGroup(withKeys(oldKey))];
  const { id } = lost;
  const spoil = 'update user_group set token_encrypted = set_byte(token_encrypted, 20, 1 - get_byte(token_encrypted, 20) % 2)';
  await database.pool.query(`${spoil} where provided_id = $1`, [id]);
  const both = withKeys(newKey, oldKey);
  const { changed, remaining, problems } = await reencryptAll(database, both.app.keys, () => {});
  expect([changed, problems]).toEqual([1, [expect.stringContaining('cannot be decrypted')]]);
  expect(remaining).toEqual([{ table: 'user_group', id: new KeyRing([oldKey]).ids[0], rows: 1 }]);
  expect(await tokenById(withKeys(newKey), found.id)).toBe(found.token);
  await database.prisma.userGroup.deleteMany({ where: { providedId: id } });
});

test('no token is in a row, in a data file of the database, or in what is printed of a group', async () => {
  const context = withKeys(newKey);
  const { id, token } = await createGroup(context);
  expect(JSON.stringify(await findUserGroup(context, { token }))).not.toContain(token);
  await rotateUserGroupToken(context, { currentToken: token, graceSeconds: 60 });
  expect(await dumpOf(database)).toContain(id);
  expect(await dumpOf(database)).not.toContain('ugt_');
  expect(await dataFilesWith(database, /ugt_/)).toEqual([]);
});
