import { type Author, actor, silent } from '../caller.ts';
import { anyOf, names, type ParameterColumn, type Sql, toByteaArray, toLists, unnest } from '../database/client.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { type NamesWith, type ParameterOf, storedAttributes } from './attributes.ts';

// The statements by hand: what nearly every request reads, and the writes that are frequent. A trigger gives a changed group its
// version and time, another one records the event. All other writes are Prisma's.

/** The columns of groups, as Prisma names them. @param withJson without it, rows have neither properties nor mapping. */
export const groupColumns = (table: string, withJson = true): string =>
  storedAttributes
    .filter(([, { type }]) => withJson || type !== 'json')
    .map(([name, { sql }]) => `${table}.${sql} as "${name}"`)
    .join(', ');

const columns = groupColumns('g');

/** The group that a token identifies. */
export interface GroupOfToken {
  readonly userGroup: UserGroup;
  /** Whether the token is its current one; otherwise it is a retired one in its grace period. */
  readonly isCurrent: boolean;
  /** When its grace period ends; null for the current one. */
  readonly expiresAt: Date | null;
}

/**
 * The groups of tokens, each by its keyed hashes: what is stored has one of them. Nearly every token is a current one. Those that
 * are not found are asked for among current and retired ones in one statement: each result is that of one snapshot.
 */
export async function findGroupsOfTokens(
  sql: Sql,
  tokens: readonly (readonly string[])[],
): Promise<(GroupOfToken | undefined)[]> {
  const found = new Map<string, GroupOfToken>();
  for (const userGroup of await sql<UserGroup>('groups-by-current-token', groupsByCurrentToken, [toByteaArray(tokens.flat())]))
    found.set(Buffer.from(userGroup.tokenHash).toString('hex'), { userGroup, isCurrent: true, expiresAt: null });
  const of = (hashes: readonly string[]) => {
    const hash = hashes.find((each) => found.has(each));
    return hash === undefined ? undefined : found.get(hash);
  };
  const missing = tokens.filter((hashes) => !of(hashes)).flat();
  if (missing.length > 0) {
    const rows = await sql<RowOfToken>('groups-by-token', groupsByAnyToken, [toByteaArray(missing)]);
    for (const { foundHash, isCurrent, expiresAt, ...userGroup } of rows)
      found.set(foundHash, { userGroup, isCurrent, expiresAt });
  }
  return tokens.map(of);
}

type RowOfToken = UserGroup & { foundHash: string; isCurrent: boolean; expiresAt: Date | null };

const groupsByCurrentToken = `
  select ${columns} from user_group g where g.token_hash = ${anyOf(1, 'bytea')} and not g.suspended`;

const groupsByAnyToken = `
  select ${columns}, encode(g.token_hash, 'hex') as "foundHash", true as "isCurrent", null::timestamptz as "expiresAt" from user_group g
  where g.token_hash = ${anyOf(1, 'bytea')} and not g.suspended
  union all
  select ${columns}, encode(r.token_hash, 'hex'), false, r.expires_at from ${unnest([{ sql: 'token_hash', type: 'bytea' }], 'key')}
  cross join lateral (
    select * from retired_token r where r.token_hash = key.token_hash and r.expires_at > now() limit 1
  ) as r
  cross join lateral (select * from user_group g where g.team_id = r.team_id and not g.suspended limit 1) as g`;

/** The group of each number. */
export async function findGroupsByTeamId(sql: Sql, teamIds: readonly number[]): Promise<(UserGroup | undefined)[]> {
  const rows = await sql<UserGroup>('groups-by-team-id', groupsByTeamId, [teamIds]);
  const found = new Map(rows.map((group) => [group.teamId, group]));
  return teamIds.map((teamId) => found.get(teamId));
}

const groupsByTeamId = `select ${columns} from user_group g where g.team_id = ${anyOf(1, 'int')}`;

/** The groups of each provided id: none, one, or one of `Customer` and one of `Testing`. */
export async function findGroupsByProvidedId(
  sql: Sql,
  providedIds: readonly string[],
  withJson = true,
): Promise<(readonly UserGroup[] | undefined)[]> {
  const name = withJson ? 'groups-by-provided-id' : 'group-summaries-by-provided-id';
  const rows = await sql<UserGroup>(name, groupsByProvidedId(withJson), [providedIds]);
  const found = new Map<string, UserGroup[]>();
  for (const group of rows) found.set(group.providedId, [...(found.get(group.providedId) ?? []), group]);
  return providedIds.map((providedId) => found.get(providedId));
}

/**
 * In two halves, because each of the two indexes on the id covers a part of the groups. The first includes the untagged ones. No
 * condition is one of an index on the environment: a plan that was made for few groups of `Testing` would read all of them.
 */
const groupsByProvidedId = (withJson: boolean): string => `
  select ${groupColumns('g', withJson)} from user_group g
  where g.provided_id = ${anyOf(1, 'text')} and g.environment_tag is distinct from 'Testing'
  union all
  select ${groupColumns('g', withJson)} from user_group g
  where g.provided_id = ${anyOf(1, 'text')} and g.environment_tag is distinct from 'Customer'
    and (g.environment_tag = 'Testing') is true`;

/** The group that a write is about: it must still be in an environment that the caller has access to. */
export interface GroupTarget {
  readonly teamId: number;
  /** Ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** The condition of a target, whose values are the first three parameters. */
const isTarget = 'g.team_id = $1::int and ($2::bool or g.environment_tag is not distinct from $3::environment_tag)';

const valuesOf = ({ teamId, environmentTag, allEnvironments }: GroupTarget): unknown[] => [
  teamId,
  allEnvironments,
  environmentTag,
];

/** A group to insert; every rule is checked already. */
export type UserGroupDraft = { readonly [Name in NamesWith<'insert'>]: ParameterOf<Name> };

const drafted = storedAttributes.filter(([, { insert }]) => insert);
const draftFields = drafted.map(([name]) => name) as readonly NamesWith<'insert'>[];
const draftColumns: readonly ParameterColumn[] = drafted.map(([, attribute]) => attribute);

/** The columns that a new group gives. */
export const writtenColumns = draftColumns.map(({ sql }) => sql);

/**
 * Inserts the groups whose ids and tokens no stored group holds, in their order, and returns them; of an import, only their
 * numbers. No two drafts may conflict. Sorted by id they cannot lead to a deadlock.
 */
export const insertGroups = (
  sql: Sql,
  author: Author,
  drafts: readonly UserGroupDraft[],
  isImport = false,
): Promise<UserGroup[]> => {
  const values = [...toLists(draftFields, drafts), JSON.stringify(author)];
  return sql(isImport ? 'import-groups' : 'insert-groups', insertStatement(isImport ? 'g.team_id' : columns), values);
};

const insertStatement = (returned: string): string => `
  with ${actor(draftFields.length + 1)}
  insert into user_group as g (${names(draftColumns)}, created_at, updated_at)
  select ${names(draftColumns)}, at, at from ${unnest(draftColumns, 'draft')}, (select clock_timestamp() as at) as clock, actor
  on conflict do nothing
  returning ${returned}`;

/** New values of a group, every rule checked; a field that is omitted or undefined stays as it is. */
export type UserGroupChange = { readonly [Name in NamesWith<'update'>]?: ParameterOf<Name> | undefined };

/** The attributes that an update may change. */
const updatedAttributes = storedAttributes.filter(([, { update }]) => update) as [NamesWith<'update'>, ParameterColumn][];

/** Changes a group and returns it; undefined when there is none, or it has another version. */
export async function updateGroup(
  sql: Sql,
  author: Author,
  target: GroupTarget,
  change: UserGroupChange,
  expectedVersion?: number | null,
): Promise<UserGroup | undefined> {
  const changes = updatedAttributes.flatMap(([name]) => [change[name] !== undefined, change[name] ?? null]);
  const values = [...valuesOf(target), expectedVersion ?? null, JSON.stringify(author), ...changes];
  return (await sql<UserGroup>('update-group', updateStatement, values))[0];
}

const updateStatement = `
  with ${actor(5)}
  update user_group g set ${updatedAttributes
    .map(([, { sql, type }], index) => {
      const isGiven = 6 + 2 * index;
      return `${sql} = case when $${isGiven}::bool then $${isGiven + 1}::${type} else g.${sql} end`;
    })
    .join(', ')}
  from actor where ${isTarget} and ($4::int is null or g.version = $4) returning ${columns}`;

/** Finds a group and locks it until the transaction ends. */
export const lockGroup = async (sql: Sql, target: GroupTarget): Promise<UserGroup | undefined> =>
  (await sql<UserGroup>('lock-group', lockStatement, valuesOf(target)))[0];

const lockStatement = `select ${columns} from user_group g where ${isTarget} for update`;

interface StoredToken {
  readonly tokenHash: Uint8Array;
  readonly tokenEncrypted: Uint8Array;
}

/** A token to replace, every rule checked. */
export interface Rotation {
  /** The keyed hashes of the current token in hexadecimal, one under each key: what is stored has one of them. */
  readonly currentHashes: readonly string[];
  /** The current token as a retired one is stored; none without a grace period. */
  readonly retired: StoredToken | undefined;
  /** The new token as it is stored. */
  readonly replacement: StoredToken;
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  /** How long the current token still identifies the group, in seconds; 0 ends it at once. */
  readonly graceSeconds: number;
  /** Whether the grace periods of tokens that were replaced earlier end at once. */
  readonly endGracePeriods: boolean;
  /** None permits any. */
  readonly expectedVersion: number | null | undefined;
}

/** The result of a rotation: the group, and when its previous token expires; null if it has expired already. */
export interface Rotated {
  readonly userGroup: UserGroup;
  readonly previousTokenExpiresAt: Date | null;
}

/** Replaces a token; undefined when it is no current token in that environment, or the group has another version. */
export async function rotateToken(sql: Sql, author: Author, rotation: Rotation): Promise<Rotated | undefined> {
  const { retired, replacement } = rotation;
  const [row] = await sql<UserGroup & Omit<Rotated, 'userGroup'>>('rotate-token', rotateStatement, [
    toByteaArray(rotation.currentHashes),
    rotation.allEnvironments,
    rotation.environmentTag,
    rotation.expectedVersion ?? null,
    JSON.stringify(author),
    replacement.tokenHash,
    replacement.tokenEncrypted,
    retired?.tokenHash ?? null,
    retired?.tokenEncrypted ?? null,
    rotation.graceSeconds,
    rotation.endGracePeriods,
  ]);
  if (!row) return undefined;
  const { previousTokenExpiresAt, ...userGroup } = row;
  return { userGroup, previousTokenExpiresAt };
}

/** A statement that waits for another rotation of the token finds it replaced, and does nothing. */
const rotateStatement = `
  with ${actor(5)}, rotated as (
    update user_group g set token_hash = $6::bytea, token_encrypted = $7::bytea from actor
    where g.token_hash = ${anyOf(1, 'bytea')}
      and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) and ($4::int is null or g.version = $4)
    returning ${columns}
  ), ended as (
    delete from retired_token where team_id = (select "teamId" from rotated) and ($11::bool or expires_at <= now())
  ), retired as (
    insert into retired_token (token_hash, token_encrypted, team_id, expires_at)
    select $8::bytea, $9::bytea, "teamId", clock_timestamp() + $10::int * interval '1 second' from rotated where $10 > 0
    returning expires_at
  )
  select rotated.*, retired.expires_at as "previousTokenExpiresAt" from rotated left join retired on true`;

/** Records how many seconds ago groups were last resolved, by number, where the stored time is at least an hour older. */
export async function stampResolvedGroups(sql: Sql, secondsAgo: ReadonlyMap<number, number>): Promise<void> {
  await sql('stamp-resolved-groups', stampResolved, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
}

/** Locked by number, as imports lock groups. Silent to spare the triggers the look at each row: the column is bookkeeping. */
const stampResolved = `
  with ${silent}, due as materialized (
    select g.team_id, now() - seconds_ago * interval '1 second' as at
    from unnest($1::int[], $2::float8[]) as each (team_id, seconds_ago) join user_group g using (team_id)
    where coalesce(g.last_resolved_at <= now() - (seconds_ago + 3600) * interval '1 second', true)
    order by g.team_id for no key update of g
  ), updated as (
    update user_group g set last_resolved_at = due.at from due, silent where g.team_id = due.team_id
  )
  select`;
