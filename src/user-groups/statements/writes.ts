import { type Author, actor } from '../../audit-log/statements/author.ts';
import type { Database } from '../../database/client.ts';
import { anyOf, columnTypes, names, toByteaArray, toLists, unnest } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import {
  draftColumns,
  draftFields,
  type UserGroupChange,
  type UserGroupDraft,
  UserGroupRow,
  updatedAttributes,
  userGroupColumnCount,
  userGroupSelectList,
} from './columns.ts';

// The writes that are frequent, each for one caller. A trigger gives a changed group its version and time, another one records
// the event. All other writes are Prisma's.

type Query = Database['query'];

/** The group that a write is about. */
export interface GroupTarget {
  readonly teamId: number;
  /** The environment that the group must have; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** Inserts the groups whose ids no stored group holds, and returns them. No two drafts may conflict. */
export async function insertGroups(query: Query, author: Author, drafts: readonly UserGroupDraft[]): Promise<UserGroup[]> {
  const rows = await query('insert-groups', insertStatement, [...toLists(draftFields, drafts), JSON.stringify(author)]);
  return rows.map((row) => new UserGroupRow(row));
}

/** Ordered by id to prevent deadlocks; of one id the untagged group first, which conflicts with both others. */
const insertStatement = `
  with ${actor(draftFields.length + 1)}
  insert into user_group as g (${names(draftColumns)}, created_at, updated_at)
  select ${names(draftColumns)}, at, at from ${unnest(draftColumns, 'draft')}, (select clock_timestamp() as at) as clock, actor
  order by provided_id, environment_tag nulls first
  on conflict do nothing
  returning ${userGroupSelectList('g')}`;

/**
 * Changes a group and returns it; undefined when there is none in that environment, or it has another version.
 *
 * @param expectedVersion none permits any.
 */
export async function updateGroup(
  query: Query,
  author: Author,
  target: GroupTarget,
  change: UserGroupChange,
  expectedVersion?: number | null,
): Promise<UserGroup | undefined> {
  const values = updatedAttributes.flatMap(([name]) => [change[name] !== undefined, change[name] ?? null]);
  const parameters = [...targetValues(target), expectedVersion ?? null, JSON.stringify(author), ...values];
  const [row] = await query('update-group', updateStatement, parameters);
  return row && new UserGroupRow(row);
}

const targetValues = ({ teamId, allEnvironments, environmentTag }: GroupTarget) => [teamId, allEnvironments, environmentTag];

const isTarget = 'g.team_id = $1::int and ($2::bool or g.environment_tag is not distinct from $3::environment_tag)';

const changes = updatedAttributes.map(([, { sql, type }], index) => {
  const isGiven = 6 + 2 * index;
  return `${sql} = case when $${isGiven}::bool then $${isGiven + 1}::${type} else g.${sql} end`;
});

const updateStatement = `
  with ${actor(5)}
  update user_group g set ${changes.join(', ')} from actor
  where ${isTarget} and ($4::int is null or g.version = $4)
  returning ${userGroupSelectList('g')}`;

/** Finds a group and locks it until the transaction of `query` ends. */
export async function lockGroup(query: Query, target: GroupTarget): Promise<UserGroup | undefined> {
  const [row] = await query('lock-group', lockStatement, targetValues(target));
  return row && new UserGroupRow(row);
}

const lockStatement = `select ${userGroupSelectList('g')} from user_group g where ${isTarget} for update`;

/** A token to replace, every rule checked. */
export interface Rotation extends Omit<GroupTarget, 'teamId'> {
  /** The keyed hashes of the current token in hexadecimal, one under each key: what is stored has one of them. */
  readonly currentHashes: readonly string[];
  /** The current token as a retired one is stored; none without a grace period. */
  readonly retired: StoredToken | undefined;
  /** The new token as it is stored. */
  readonly replacement: StoredToken;
  /** How long the current token still identifies the group, in seconds; 0 ends it at once. */
  readonly graceSeconds: number;
  /** Whether the grace periods of tokens that were replaced earlier end at once. */
  readonly endGracePeriods: boolean;
  /** None permits any. */
  readonly expectedVersion: number | null | undefined;
}

interface StoredToken {
  readonly tokenHash: Uint8Array;
  readonly tokenEncrypted: Uint8Array;
}

/** The result of a rotation: the group, and when its previous token expires; null if it has expired already. */
export interface Rotated {
  readonly userGroup: UserGroup;
  readonly previousTokenExpiresAt: Date | null;
}

/**
 * Replaces a token; undefined when it is not, or no longer, the current token of a group in that environment, or the group has
 * another version.
 */
export async function rotateToken(query: Query, author: Author, rotation: Rotation): Promise<Rotated | undefined> {
  const { currentHashes, retired, replacement, environmentTag, allEnvironments, graceSeconds, endGracePeriods } = rotation;
  const [row] = await query('rotate-token', rotateStatement, [
    toByteaArray(currentHashes),
    allEnvironments,
    environmentTag,
    rotation.expectedVersion ?? null,
    JSON.stringify(author),
    replacement.tokenHash,
    replacement.tokenEncrypted,
    retired?.tokenHash ?? null,
    retired?.tokenEncrypted ?? null,
    graceSeconds,
    endGracePeriods,
  ]);
  if (!row) return undefined;
  const expiresAt = row[userGroupColumnCount] ?? null;
  return { userGroup: new UserGroupRow(row), previousTokenExpiresAt: columnTypes.nullableTime.decode(expiresAt) };
}

/**
 * A statement that waits for another rotation of the token finds it replaced, and does nothing. One that finds the token also
 * sees every token that was replaced before.
 */
const rotateStatement = `
  with ${actor(5)}, rotated as (
    update user_group g set token_hash = $6::bytea, token_encrypted = $7::bytea from actor
    where g.token_hash = ${anyOf(1, 'bytea')}
      and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) and ($4::int is null or g.version = $4)
    returning ${userGroupSelectList('g')}
  ), ended as (
    delete from retired_token where team_id = (select team_id from rotated) and ($11::bool or expires_at <= now())
  ), retired as (
    insert into retired_token (token_hash, token_encrypted, team_id, expires_at)
    select $8::bytea, $9::bytea, team_id, clock_timestamp() + $10::int * interval '1 second' from rotated where $10 > 0
    returning expires_at
  )
  select ${userGroupSelectList('rotated')}, retired.expires_at from rotated left join retired on true`;
