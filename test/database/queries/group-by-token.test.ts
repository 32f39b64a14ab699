import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bindLookups, type Lookups } from '../../../src/database/queries/lookups.ts';
import { issueToken } from '../../../src/domain/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { retiredHash, storedToken, testKeys } from '../../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** What happens between the first statement of a look-up and the second. */
let meanwhile: (() => Promise<unknown>) | undefined;
let statements: string[] = [];
beforeEach(() => {
  meanwhile = undefined;
});

/** Look-ups that have not seen any group yet. */
const bindNew = () =>
  bindLookups({
    async query(name, text, values) {
      const rows = await database.query(name, text, values);
      statements.push(name);
      if (statements.length === 1) await meanwhile?.();
      return rows;
    },
  });

/** Looks tokens up in one turn: team ids, with the ends of grace periods left out. */
const lookUp = (...tokens: string[]) => lookUpWith(bindNew(), tokens);

async function lookUpWith({ groupByTokenHash }: Pick<Lookups, 'groupByTokenHash'>, tokens: readonly string[]) {
  statements = [];
  const found = await Promise.all(tokens.map((token) => groupByTokenHash(testKeys.hashes(token))));
  return found.map((one) => one && { teamId: one.userGroup.teamId, isCurrent: one.isCurrent });
}

let count = 0;
/** A group with a current and a retired token. @param end when the grace period ends, in seconds from now. */
async function createGroup(end = 60) {
  count += 1;
  const [current, retired] = [issueToken('userGroup'), issueToken('userGroup')];
  const data = { providedId: `group ${count}`, name: 'Group', ...storedToken(current) };
  const { teamId } = await database.prisma.userGroup.create({ data });
  await retire(teamId, retired, end);
  return { teamId, current, retired };
}

/** As SQL, by the clock of the database. */
const retire = (teamId: number, token: string, end: number) =>
  database.pool.query(
    "insert into retired_token (token_hash, token_encrypted, team_id, expires_at) values ($1, '', $2, now() + $3 * interval '1 second')",
    [retiredHash(token), teamId, end],
  );

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

test('current, retired, expired and unknown tokens of one turn: each has its result', async () => {
  const [group, ended] = [await createGroup(), await createGroup(-1)];
  expect(await lookUp(group.retired, ended.current, ended.retired, issueToken('userGroup'), group.current)).toEqual([
    { teamId: group.teamId, isCurrent: false },
    { teamId: ended.teamId, isCurrent: true },
    undefined,
    undefined,
    { teamId: group.teamId, isCurrent: true },
  ]);
});

test('current tokens alone cost one statement', async () => {
  const groups = [await createGroup(), await createGroup()];
  await lookUp(...groups.map(({ current }) => current));
  expect(statements).toHaveLength(1);
});

test.each([
  ['rotated with a grace period', rotate],
  ['rotated without one', (teamId: number) => rotate(teamId, issueToken('userGroup')).then(() => endAll(teamId))],
])('a current token that is %s while it is looked up is found as the current one', async (_, change) => {
  const { teamId, current } = await createGroup();
  meanwhile = () => change(teamId, issueToken('userGroup'));
  expect(await lookUp(current)).toEqual([{ teamId, isCurrent: true }]);
  meanwhile = undefined;
  expect(await lookUp(current)).toEqual([change === rotate ? { teamId, isCurrent: false } : undefined]);
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

/** Ends the grace periods of a group. */
const endAll = (teamId: number) => database.pool.query('delete from retired_token where team_id = $1', [teamId]);

describe('a group whose location is known', () => {
  const byLocation = ['groups-at-locations'];
  const again = ['groups-at-locations', 'groups-by-current-token'];

  /** A group that was looked up once, the second of its table, and look-ups that know where it is. */
  async function createKnown() {
    await database.pool.query('truncate user_group cascade'); // no free places from before, which differ
    await createGroup();
    const group = await createGroup();
    const lookups = bindNew();
    await lookUpWith(lookups, [group.current]);
    return { ...group, lookUpAgain: (...tokens: string[]) => lookUpWith(lookups, tokens.length > 0 ? tokens : [group.current]) };
  }

  const locationOf = async (teamId: number) =>
    (await database.pool.query('select ctid::text from user_group where team_id = $1', [teamId])).rows[0]?.ctid;

  const moveBy: [string, (teamId: number) => Promise<unknown>][] = [
    ['was updated', (teamId) => database.pool.query('update user_group set name = $2 where team_id = $1', [teamId, 'new'])],
    [
      'was updated and its old version removed',
      async (teamId) => {
        await database.pool.query('update user_group set name = $2 where team_id = $1', [teamId, 'new']);
        await database.pool.query('vacuum user_group');
      },
    ],
    [
      'is in a table that was rewritten',
      async (teamId) => {
        await database.pool.query('delete from user_group where team_id < $1', [teamId]);
        const before = await locationOf(teamId);
        // Rows that a transaction of another test might see are kept until it ends.
        do await database.pool.query('vacuum full user_group');
        while ((await locationOf(teamId)) === before);
      },
    ],
  ];

  test('is read there', async () => {
    const { teamId, lookUpAgain } = await createKnown();
    expect(await lookUpAgain()).toEqual([{ teamId, isCurrent: true }]);
    expect(statements).toEqual(byLocation);
  });

  test.each(moveBy)('and that %s is found by its token, then at its new location', async (_, move) => {
    const { teamId, lookUpAgain } = await createKnown();
    await move(teamId);
    expect(await lookUpAgain()).toEqual([{ teamId, isCurrent: true }]);
    expect(statements).toEqual(again);
    expect(await lookUpAgain()).toEqual([{ teamId, isCurrent: true }]);
    expect(statements).toEqual(byLocation);
  });

  test('is not found by its location when another group is stored there', async () => {
    const { teamId, current, lookUpAgain } = await createKnown();
    const location = await locationOf(teamId);
    await database.pool.query('delete from user_group where team_id = $1', [teamId]);
    let other: Awaited<ReturnType<typeof createGroup>>;
    do {
      await database.pool.query('vacuum user_group');
      other = await createGroup();
    } while ((await locationOf(other.teamId)) !== location);
    expect(await lookUpAgain()).toEqual([undefined]);
    expect(await lookUpAgain(current, other.current)).toEqual([undefined, { teamId: other.teamId, isCurrent: true }]);
  });

  test('and whose token was rotated is found by the retired token, until its grace period ends', async () => {
    const { teamId, lookUpAgain } = await createKnown();
    const next = issueToken('userGroup');
    await rotate(teamId, next);
    expect(await lookUpAgain()).toEqual([{ teamId, isCurrent: false }]);
    expect(await lookUpAgain(next)).toEqual([{ teamId, isCurrent: true }]);
    await endAll(teamId);
    expect(await lookUpAgain()).toEqual([undefined]);
  });

  test('is found by its token when it is looked up with many whose location is not known, in one statement', async () => {
    const { teamId, current, lookUpAgain } = await createKnown();
    const unknown = await Promise.all(Array.from({ length: 20 }, () => createGroup()));
    expect(await lookUpAgain(current, ...unknown.map((group) => group.current))).toEqual(
      [teamId, ...unknown.map((group) => group.teamId)].map((each) => ({ teamId: each, isCurrent: true })),
    );
    expect(statements).toEqual(['groups-by-current-token']);
  });
});

test('look-ups have the same results with known locations as without, after any sequence of changes', async () => {
  const step = fc.record({
    kind: fc.constantFrom('create', 'update', 'rotate', 'retire', 'restore', 'delete', 'end', 'vacuum', 'vacuum full'),
    which: fc.nat(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await database.pool.query('truncate user_group cascade');
      const lookups = bindNew();
      const groups = [await createGroup(), await createGroup()];
      const tokens = groups.flatMap(({ current, retired }) => [current, retired]);
      for (const { kind, which } of steps) {
        const group = groups[which % groups.length] as (typeof groups)[number];
        const token = tokens[which % tokens.length] as string;
        if (kind === 'create') {
          const created = await createGroup();
          groups.push(created);
          tokens.push(created.current, created.retired);
        } else if (kind === 'update') {
          await database.pool.query('update user_group set updated_at = now() where team_id = $1', [group.teamId]);
        } else if (kind === 'rotate' || kind === 'retire') {
          const next = issueToken('userGroup');
          tokens.push(next);
          await rotate(group.teamId, next);
          if (kind === 'rotate') await endAll(group.teamId);
        } else if (kind === 'restore') await restore(group.teamId, token).catch(rejectAllBut('23505'));
        else if (kind === 'delete') await database.pool.query('delete from user_group where team_id = $1', [group.teamId]);
        else if (kind === 'end') await endAll(group.teamId);
        else await database.pool.query(`${kind} user_group`);
        const expected = new Map((await lookUpWith(bindNew(), tokens)).map((found, index) => [tokens[index], found]));
        // Current ones alone, which may all have a known location, and together with others.
        for (const some of [tokens.filter((each) => expected.get(each)?.isCurrent), [token], tokens]) {
          expect(await lookUpWith(lookups, some)).toEqual(some.map((each) => expected.get(each)));
        }
      }
    }),
    { numRuns: 10, endOnFailure: true },
  );
}, 120_000);

/** Another group may have the token. */
const rejectAllBut = (code: string) => (error: { code?: string }) => {
  if (error.code !== code) throw error;
};
