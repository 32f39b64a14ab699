import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sql } from '../../src/database/client.ts';
import { issueToken } from '../../src/tokens.ts';
import { findGroupsOfTokens } from '../../src/user-groups/sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { retiredHash, storedToken, testKeys } from '../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** What happens between the first statement of a look-up and the second. */
let meanwhile: (() => Promise<unknown>) | undefined;
let statements = 0;
beforeEach(() => {
  meanwhile = undefined;
});

/** Looks tokens up in one turn: team ids, with the ends of grace periods left out. */
async function lookUp(...tokens: string[]) {
  statements = 0;
  const found = await findGroupsOfTokens(
    sql,
    tokens.map((token) => testKeys.hashes(token)),
  );
  return found.map((one) => one && { teamId: one.userGroup.teamId, isCurrent: one.isCurrent });
}

const sql: Sql = async (...statement) => {
  const rows = await database.sql(...statement);
  statements += 1;
  if (statements === 1) await meanwhile?.();
  return rows as never;
};

let count = 0;
/** A group with a current and a retired token. */
async function createGroup() {
  count += 1;
  const [current, retired] = [issueToken('userGroup'), issueToken('userGroup')];
  const data = { providedId: `group ${count}`, name: 'Group', ...storedToken(current) };
  const { teamId } = await database.prisma.userGroup.create({ data });
  await database.pool.query(
    "insert into retired_token (token_hash, token_encrypted, team_id, expires_at) values ($1, '', $2, now() + interval '1 minute')",
    [retiredHash(retired), teamId],
  );
  return { teamId, current, retired };
}

/** Replaces the current token as a rotation with a grace period does, in one statement. */
const rotate = (teamId: number, token: string) =>
  database.pool.query(
    `with retired as (
       insert into retired_token (token_hash, token_encrypted, team_id, expires_at)
       select token_hash, '', team_id, now() + interval '1 minute' from user_group where team_id = $1
     ) update user_group set token_hash = $2 where team_id = $1`,
    [teamId, storedToken(token).tokenHash],
  );

/** Makes a retired token current again, as an import does, in one statement. */
const restore = (teamId: number, token: string) =>
  database.pool.query(
    `with ended as (delete from retired_token where token_hash = $2) update user_group set token_hash = $2 where team_id = $1`,
    [teamId, storedToken(token).tokenHash],
  );

const endAll = (teamId: number) => database.pool.query('delete from retired_token where team_id = $1', [teamId]);

test('a current token that is rotated with a grace period while it is looked up is found as the current one', async () => {
  const { teamId, current } = await createGroup();
  meanwhile = () => rotate(teamId, issueToken('userGroup'));
  expect(await lookUp(current)).toEqual([{ teamId, isCurrent: true }]);
  meanwhile = undefined;
  expect(await lookUp(current)).toEqual([{ teamId, isCurrent: false }]);
});

test('a retired token that becomes current again between the statements is found, as the current one', async () => {
  const { teamId, retired } = await createGroup();
  meanwhile = () => restore(teamId, retired);
  expect(await lookUp(retired)).toEqual([{ teamId, isCurrent: true }]);
});

test('a retired token whose grace period is ended between the statements is not found', async () => {
  const { teamId, retired } = await createGroup();
  meanwhile = () => endAll(teamId);
  expect(await lookUp(retired)).toEqual([undefined]);
});

test('a token that is issued between the statements is found', async () => {
  const { teamId } = await createGroup();
  const token = issueToken('userGroup');
  meanwhile = () => rotate(teamId, token);
  expect(await lookUp(token)).toEqual([{ teamId, isCurrent: true }]);
});
