import type { Database } from '../../src/database/client.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { tokenOf } from '../../test/support/keys.ts';
import type { ScenarioContext } from '../scenario.ts';
import type { KnownGroup, Writers } from './writers.ts';

/** Ends the writers, and checks what they wrote, and every response. */
export async function checkWriters(
  { figure, expect }: ScenarioContext,
  writers: Writers,
  instance: { withDatabase<Result>(use: (database: Database) => Promise<Result>): Promise<Result> },
): Promise<void> {
  await writers.stop();
  const missing = await instance.withDatabase((database) => missingWrites(database, writers.snapshot()));
  figure(`${writers.acknowledged} writes acknowledged, ${missing.length} lost, no id twice`);
  if (writers.replayed > 0) figure(`${writers.replayed} sent again with their key and replayed`);
  expect(writers.acknowledged > 0, 'no write was acknowledged');
  expect(missing.length === 0, `${missing.length} acknowledged writes are lost: ${missing.slice(0, 3).join('; ')}`);
  expect(writers.wrong.length === 0, `${writers.wrong.length} wrong responses: ${writers.wrong.slice(0, 3).join('; ')}`);
}

/** The acknowledged writes of ended writers that are not stored. */
async function missingWrites(database: Database, known: readonly KnownGroup[]): Promise<string[]> {
  // Throws when an id is stored twice. No two runs of writers have the same ids.
  const tokens = new Map([...(await readStoredTokens(database)), ...(await readStoredTokens(database, 'Customer'))]);
  const rows = await database.prisma.userGroup.findMany({ select: { providedId: true, name: true, teamId: true } });
  const stored = new Map(rows.map((row) => [row.providedId, row]));
  const events = await database.prisma.event.groupBy({
    by: ['teamId'],
    where: { type: 'user_group.token_rotated' },
    _count: true,
  });
  const rotated = new Map(events.map(({ teamId, _count }) => [teamId, _count]));
  return known.flatMap((group) => {
    const row = stored.get(group.id);
    if (!row || row.teamId !== group.teamId) return [`${group.id} is missing`];
    const name = Number(row.name);
    const rotations = rotated.get(group.teamId) ?? 0;
    return [
      ...(!(name >= group.acknowledgedName && name <= group.sentName) && !group.unknownNames.includes(name)
        ? [`${group.id} has the name ${row.name}, acknowledged was ${group.acknowledgedName}`]
        : []),
      ...(rotations < group.rotations || rotations > group.rotations + group.unknownRotations
        ? [`${group.id} was rotated ${rotations} times, acknowledged were ${group.rotations}`]
        : []),
      ...(group.token !== undefined && rotations === group.rotations && tokens.get(group.id) !== group.token
        ? [`${group.id} has another token than was acknowledged`]
        : []),
    ];
  });
}

/** The current token of each provided id of an environment, decrypted. @throws Error when an id is stored twice. */
async function readStoredTokens({ prisma }: Database, environmentTag: EnvironmentTag = 'Testing'): Promise<Map<string, string>> {
  // Without indexes, which may hide what the table has.
  const [, groups] = await prisma.$transaction([
    prisma.$executeRaw`select set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
    prisma.userGroup.findMany({ where: { environmentTag } }),
  ]);
  const tokens = new Map(groups.map((group) => [group.providedId, tokenOf(group)]));
  if (tokens.size !== groups.length) throw new Error(`${groups.length - tokens.size} provided ids are stored twice.`);
  return tokens;
}
