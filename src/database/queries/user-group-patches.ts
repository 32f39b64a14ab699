import type { Share } from '../../fair-queue.ts';
import type { Prisma, UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { maxWriteKeys } from './batch-sizes.ts';
import { toLists } from './columns.ts';
import type { OnRecorded } from './event-writes.ts';
import { UserGroupRow, userGroupColumnCount, userGroupSelectList } from './user-group-columns.ts';
import { lockTargets, targetFields } from './user-group-targets.ts';
import { type UserGroupUpdate, updateGroups } from './user-group-updates.ts';

/** An update of one group whose new properties depend on the stored ones. */
export interface UserGroupPatch extends Omit<UserGroupUpdate, 'properties'> {
  /**
   * Returns the new properties. Called while the group is locked; must not change the stored ones.
   *
   * @throws what the patch fails with; then nothing of it is stored.
   */
  readonly revise: (stored: Prisma.JsonValue) => Prisma.JsonValue;
}

/** Patches of user groups. */
export interface UserGroupPatches {
  /**
   * Patches a group and returns it; undefined when there is no such group in that environment. Concurrent patches of one group
   * are made one after another, in any number of processes. Those that are sent together share a transaction.
   */
  patchGroup(patch: UserGroupPatch, share?: Share): Promise<UserGroup | undefined>;
}

/** What became of a patch: the group, or why nothing was stored. */
type Outcome = { readonly group: UserGroup } | { readonly error: unknown };

/** Binds the patches of user groups to a database. */
export function bindUserGroupPatches({ transaction }: Pick<Database, 'transaction'>, onRecorded: OnRecorded): UserGroupPatches {
  const load = createBatchLoader<{ readonly patch: UserGroupPatch; readonly number: number }, Outcome>({
    keyOf: ({ number }) => String(number), // never shared: each patch is made
    maxKeys: maxWriteKeys,
    load: async (keys) => {
      const patches = keys.map(({ patch }) => patch);
      const outcomes = await transaction((query) => patchGroups(query, patches, onRecorded));
      return new Map([...outcomes].map(([index, outcome]) => [String(keys[index]?.number), outcome]));
    },
  });
  let last = 0;
  return {
    async patchGroup(patch, share) {
      last += 1;
      const outcome = await load({ patch, number: last }, share);
      if (outcome && 'error' in outcome) throw outcome.error;
      return outcome?.group;
    },
  };
}

/** Locks the groups, has their properties revised in the order of the patches, and stores the results. */
async function patchGroups(
  query: Database['query'],
  patches: readonly UserGroupPatch[],
  onRecorded: OnRecorded,
): Promise<Map<number, Outcome>> {
  const rows = await query('lock-groups', lockGroups, toLists(targetFields, patches));
  const locked = rows.map((row) => ({ index: Number(row[userGroupColumnCount]) - 1, group: new UserGroupRow(row) }));
  locked.sort((a, b) => a.index - b.index);

  const outcomes = new Map<number, Outcome>();
  const properties = new Map<number, Prisma.JsonValue>();
  const updates: { index: number; update: UserGroupUpdate }[] = [];
  for (const { index, group } of locked) {
    const { revise, ...others } = patches[index] as UserGroupPatch;
    const { teamId } = group;
    try {
      const revised = revise(properties.has(teamId) ? (properties.get(teamId) ?? null) : group.properties);
      properties.set(teamId, revised);
      const target = { teamId, providedId: null, allEnvironments: true };
      updates.push({ index, update: { ...others, ...target, properties: revised === null ? null : JSON.stringify(revised) } });
    } catch (error) {
      outcomes.set(index, { error });
    }
  }
  if (updates.length === 0) return outcomes;
  const groups = await updateGroups(
    query,
    updates.map(({ update }) => update),
    onRecorded,
  );
  for (const [position, group] of groups) outcomes.set(updates[position]?.index as number, { group });
  return outcomes;
}

const lockGroups = `
  with ${lockTargets}
  select ${userGroupSelectList('locked')}, position from locked`;
