import type { TestGateway } from './gateway.ts';
import { storedToken } from './keys.ts';

/** How many groups {@link seedLargeGroups} creates: as many as one page or `nodes` may have. */
const groupCount = 100;

/**
 * Creates 100 groups of the Testing environment with 60,000 characters of properties each, so that a response with all of them
 * has about 6 MB.
 * @returns their global ids.
 */
export async function seedLargeGroups({ database }: TestGateway): Promise<string[]> {
  const groups = await database.prisma.userGroup.createManyAndReturn({
    data: Array.from({ length: groupCount }, (_, index) => ({
      providedId: `group ${index}`,
      name: 'Group',
      environmentTag: 'Testing' as const,
      ...storedToken(`an imported token ${index}`),
      properties: { text: 'x'.repeat(60_000) },
    })),
  });
  return groups.map(({ teamId }) => Buffer.from(`UserGroup:${teamId}`).toString('base64'));
}
