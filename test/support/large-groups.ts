import { changeSilently } from './database.ts';
import type { TestGateway } from './gateway.ts';
import { storedToken } from './keys.ts';

/** How many groups {@link seedLargeGroups} creates: as many as one page or `nodes` may have. */
const groupCount = 100;

/**
 * Creates 100 groups of the Testing environment with 60,000 characters of properties each, so that a response with all of them
 * has about 6 MB.
 *
 * @param mappingEntries the number of entries in the mapping of each.
 * @returns their global ids.
 */
export async function seedLargeGroups({ database }: TestGateway, mappingEntries = 0): Promise<string[]> {
  const mapping = Object.fromEntries(Array.from({ length: mappingEntries }, (_, entry) => [`schema ${entry}`, 'source']));
  const groups = await database.prisma.userGroup.createManyAndReturn({
    data: Array.from({ length: groupCount }, (_, index) => ({
      providedId: `group ${index}`,
      name: 'Group',
      environmentTag: 'Testing' as const,
      ...storedToken(`an imported token ${index}`),
      properties: { text: 'x'.repeat(60_000) },
      mapping,
    })),
  });
  return groups.map(({ teamId }) => Buffer.from(`UserGroup:${teamId}`).toString('base64'));
}

/**
 * Gives every group a mapping of a megabyte, and every event such changes. Requests may not send as much; so few of them are too
 * large for one response.
 */
export async function enlargeStored({ database }: TestGateway): Promise<void> {
  const entries = Array.from({ length: 1_000 }, (_, entry) => [`schema ${entry}`.padEnd(255, 'ä'), 'ä'.repeat(255)]);
  const mapping = JSON.stringify(Object.fromEntries(entries));
  await changeSilently(database, `update user_group set mapping = '${mapping}'`);
  await database.pool.query("update event set changes = json_build_object('mapping', json_build_object('to', $1::json))", [
    mapping,
  ]);
}
