import type { OnRecorded } from '../../audit-log/statements/insert.ts';
import type { QueueKey } from '../../concurrency/fair-queue.ts';
import { createWriteLoader } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { toLists } from '../../database/columns.ts';
import type { Prisma, UserGroup } from '../../generated/prisma/client.ts';
import {
  type Expecting,
  nextVersion,
  type OtherVersion,
  UserGroupRow,
  userGroupColumnCount,
  userGroupSelectList,
} from './columns.ts';
import { lockTargets, targetFields, type UserGroupUpdate, updateGroups } from './update.ts';

/** An update of one group that depends on what is stored: on its version, its name or its properties. */
export interface UserGroupPatch extends UserGroupUpdate, Expecting {
  /**
   * Takes the stored name, while the group is locked.
   *
   * @throws what the patch fails with; then nothing of it is stored.
   */
  readonly checkName?: ((stored: string) => void) | undefined;
  /**
   * Returns the new properties, in place of those that are given. Called while the group is locked; must not change the stored
   * ones.
   *
   * @throws what the patch fails with; then nothing of it is stored.
   */
  readonly revise?: ((stored: Prisma.JsonValue) => Prisma.JsonValue) | undefined;
}

/** Patches of user groups. */
export interface UserGroupPatches {
  /**
   * Patches a group and returns it; undefined when there is no such group in that environment. Concurrent patches of one group
   * are made one after another, in any number of processes: of those that expect one version, one is made. Those that are sent
   * together share a transaction.
   */
  patchOne(patch: UserGroupPatch, queueKey?: QueueKey): Promise<UserGroup | OtherVersion | undefined>;
}

/** What became of a patch: the group, or why nothing was stored. */
type Outcome = { readonly group: UserGroup | OtherVersion } | { readonly error: unknown };

/** Binds the patches of user groups to a database. */
export function bindUserGroupPatches({ transaction }: Pick<Database, 'transaction'>, onRecorded: OnRecorded): UserGroupPatches {
  const load = createWriteLoader((patches: readonly UserGroupPatch[]) =>
    transaction((query) => patchGroups(query, patches, onRecorded)),
  );
  return {
    async patchOne(patch, queueKey) {
      const outcome = await load(patch, queueKey);
      if (outcome && 'error' in outcome) throw outcome.error;
      return outcome?.group;
    },
  };
}

/** A group as the patches before one leave it. */
interface Latest {
  readonly version: number;
  readonly name: string;
  /** As text; undefined while they are the stored ones. */
  readonly properties: string | null | undefined;
  /** The index of the last update of the group; undefined before the first. */
  readonly lastUpdate: number | undefined;
}

/** Locks the groups, evaluates the patches in their order, each on what the one before it leaves, and stores the results. */
async function patchGroups(
  query: Database['query'],
  patches: readonly UserGroupPatch[],
  onRecorded: OnRecorded,
): Promise<Map<number, Outcome>> {
  const rows = await query('lock-groups', lockGroups, toLists(targetFields, patches));
  const locked = rows.map((row) => ({ index: Number(row[userGroupColumnCount]) - 1, group: new UserGroupRow(row) }));
  locked.sort((a, b) => a.index - b.index);

  const outcomes = new Map<number, Outcome>();
  const latest = new Map<number, Latest>();
  const updates: { index: number; update: UserGroupUpdate }[] = [];
  const refused: { index: number; group: UserGroup; lastUpdate: number | undefined }[] = [];
  for (const { index, group } of locked) {
    const { checkName, revise, expectedVersions, ...others } = patches[index] as UserGroupPatch;
    const { teamId } = group;
    const { version, name, properties: text, lastUpdate } = latest.get(teamId) ?? firstOf(group);
    if (expectedVersions?.includes(version) === false) {
      refused.push({ index, group, lastUpdate });
      continue;
    }
    try {
      checkName?.(name);
      const stored = () => (text === undefined ? group.properties : (JSON.parse(text ?? 'null') as Prisma.JsonValue));
      const properties = revise ? toText(revise(stored())) : others.properties;
      latest.set(teamId, {
        version: nextVersion(version),
        name: others.name ?? name,
        properties: properties === undefined ? text : properties,
        lastUpdate: updates.length,
      });
      updates.push({ index, update: { ...others, teamId, providedId: null, allEnvironments: true, properties } });
    } catch (error) {
      outcomes.set(index, { error });
    }
  }
  const writes = updates.map(({ update }) => update);
  const groups = writes.length > 0 ? await updateGroups(query, writes, onRecorded) : new Map<number, UserGroup>();
  for (const [position, group] of groups) outcomes.set(updates[position]?.index as number, { group });
  for (const { index, group, lastUpdate } of refused) {
    outcomes.set(index, { group: { current: groups.get(lastUpdate ?? -1) ?? group } });
  }
  return outcomes;
}

const firstOf = ({ version, name }: UserGroup): Latest => ({ version, name, properties: undefined, lastUpdate: undefined });

const toText = (json: Prisma.JsonValue): string | null => (json === null ? null : JSON.stringify(json));

const lockGroups = `
  with ${lockTargets}
  select ${userGroupSelectList('locked')}, position from locked`;
