import type { Share } from '../../fair-queue.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { collapse } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import {
  apiTokenColumns,
  apiTokenWidth,
  StoredApiToken,
  StoredUserGroup,
  timeOrNull,
  userGroupColumns,
  userGroupWidth,
} from './rows.ts';

/** A group that may come to be, every rule checked. */
interface UserGroupDraft {
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  readonly name: string;
  readonly token: string;
  /** JSON text, or null. */
  readonly properties: string | null;
  /** JSON text. */
  readonly mapping: string;
}

/** A token that may be put in the place of another, every rule checked. */
interface Rotation {
  readonly currentToken: string;
  readonly newToken: string;
  /** The environments of the groups whose tokens may be replaced: one, or with `allEnvironments` all. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  /** How long the current token goes on, in seconds; 0 ends it at once. */
  readonly graceSeconds: number;
  /** Whether the tokens that were replaced earlier stop at once. */
  readonly endGracePeriods: boolean;
}

/** A change of a group, every rule checked. JSON is text: nothing between here and the database may interpret what callers send. */
interface UserGroupUpdate {
  readonly teamId: number;
  /** The environments of the groups that may be changed: one, or with `allEnvironments` all. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  /** Null leaves it as it is. */
  readonly name: string | null;
  /** JSON text; null leaves it as it is. */
  readonly mapping: string | null;
  readonly replacesProperties: boolean;
  /** JSON text; null clears them. */
  readonly properties: string | null;
}

/** What became of a rotation: the group, and until when its former token goes on. */
interface Rotated {
  readonly userGroup: UserGroup;
  readonly previousTokenExpiresAt: Date | null;
}

/**
 * The statements that many requests share: each is asked per key, and sent once for all keys of a turn of the event loop. `share`
 * says whose key it is, so that no API token fills the queue alone.
 */
export interface Statements {
  /** The API token with this hash (SHA-256, hexadecimal), revoked and expired ones included. */
  apiToken(secretHash: string): Promise<StoredApiToken | undefined>;
  /** The group that this user group token identifies: the current one, or a retired one in its grace period. */
  groupByToken(token: string, share?: Share): Promise<UserGroup | undefined>;
  /** The group with this internal number. */
  groupByTeamId(teamId: number, share?: Share): Promise<UserGroup | undefined>;
  /** The groups with this provided id: none, one, or two of which one is `Customer` and one `Testing`. */
  groupsByProvidedId(providedId: string, share?: Share): Promise<UserGroup[] | undefined>;
  /** Inserts a group and answers with it; with none when a stored group holds the id. Concurrent drafts for one id: the first. */
  insertGroup(draft: UserGroupDraft, share?: Share): Promise<UserGroup | undefined>;
  /** Changes a group and returns it; nothing when there is no such group in those environments. Not shared with other requests. */
  updateGroup(update: UserGroupUpdate): Promise<UserGroup | undefined>;
  /** Replaces a token and answers with its group; with none when it is not the current token of such a group, or not any more. */
  rotateToken(rotation: Rotation, share?: Share): Promise<Rotated | undefined>;
}

/** The most keys of a look-up: enough for every request of a turn, small enough not to hold up other statements. */
const maxLookupKeys = 512;

/** Fewer than of a look-up: rows are written, and locked until all of them are. */
const maxWrittenKeys = 128;

/** Binds the shared statements to a database. */
export function bindStatements({ query }: Pick<Database, 'query'>): Statements {
  return {
    apiToken: collapse({
      identity: (hash) => hash,
      maxKeys: maxLookupKeys,
      load: async (hashes) => {
        const rows = await query('api-tokens-by-hash', apiTokensByHash, [hashes]);
        return new Map(rows.map((row) => [row[apiTokenWidth] as string, new StoredApiToken(row)]));
      },
    }),
    groupByToken: collapse({
      identity: (token) => token,
      maxKeys: maxLookupKeys,
      load: async (tokens) => {
        const rows = await query('groups-by-token', groupsByToken, [tokens]);
        return new Map(rows.map((row) => [row[userGroupWidth] as string, new StoredUserGroup(row)]));
      },
    }),
    groupByTeamId: collapse({
      identity: String,
      maxKeys: maxLookupKeys,
      load: async (teamIds) => {
        const rows = await query('groups-by-team-id', groupsByTeamId, [teamIds]);
        return new Map(rows.map((row) => [row[0] as string, new StoredUserGroup(row)]));
      },
    }),
    groupsByProvidedId: collapse({
      identity: (providedId) => providedId,
      maxKeys: maxLookupKeys,
      load: async (providedIds) => {
        const groups = new Map<string, UserGroup[]>();
        for (const row of await query('groups-by-provided-id', groupsByProvidedId, [providedIds])) {
          const group = new StoredUserGroup(row);
          const others = groups.get(group.providedId);
          if (others) others.push(group);
          else groups.set(group.providedId, [group]);
        }
        return groups;
      },
    }),
    insertGroup: collapse<UserGroupDraft, UserGroup>({
      identity: draftIdentity,
      maxKeys: maxWrittenKeys,
      load: async (drafts) => {
        const column = <Name extends keyof UserGroupDraft>(name: Name) => drafts.map((draft) => draft[name]);
        const values = [
          ...[column('providedId'), column('environmentTag'), column('name')],
          ...[column('token'), column('properties'), column('mapping')],
        ];
        const inserted = (await query('insert-groups', insertGroups, values)).map((row) => new StoredUserGroup(row));
        return new Map(inserted.map((group) => [draftIdentity(group), group]));
      },
    }),
    async updateGroup({ teamId, environmentTag, allEnvironments, name, mapping, replacesProperties, properties }) {
      const values = [teamId, environmentTag, allEnvironments, name, mapping, replacesProperties, properties];
      const [row] = await query('update-group', updateGroup, values);
      return row && new StoredUserGroup(row);
    },
    rotateToken: collapse<Rotation, Rotated>({
      identity: ({ newToken }) => newToken, // each call for itself: the statement lets one of a token's through
      maxKeys: maxWrittenKeys,
      load: async (rotations) => {
        const column = <Name extends keyof Rotation>(name: Name) => rotations.map((rotation) => rotation[name]);
        const values = [
          ...[column('currentToken'), column('newToken'), column('environmentTag')],
          ...[column('allEnvironments'), column('graceSeconds'), column('endGracePeriods')],
        ];
        const rows = await query('rotate-tokens', rotateTokens, values);
        return new Map(
          rows.map((row) => {
            const userGroup = new StoredUserGroup(row);
            return [userGroup.token, { userGroup, previousTokenExpiresAt: timeOrNull(row[userGroupWidth]) }];
          }),
        );
      },
    }),
  };
}

const updateGroup = `
  update user_group g set
    name = coalesce($4, g.name), mapping = coalesce($5::json, g.mapping),
    properties = case when $6 then $7::json else g.properties end, updated_at = now()
  where g.team_id = $1 and ($3 or g.environment_tag is not distinct from $2::environment_tag)
  returning ${userGroupColumns('g')}`;

const draftIdentity = ({ environmentTag, providedId }: Pick<UserGroupDraft, 'environmentTag' | 'providedId'>): string =>
  `${environmentTag ?? ''} ${providedId}`;

const apiTokensByHash = `
  select ${apiTokenColumns}, encode(secret_hash, 'hex')
  from api_token where secret_hash = any (select decode(hash, 'hex') from unnest($1::text[]) as hash)`;

const groupsByToken = `
  select ${userGroupColumns('g')}, g.token from user_group g where g.token = any ($1::text[])
  union all
  select ${userGroupColumns('g')}, r.token from retired_token r join user_group g using (team_id)
  where r.token = any ($1::text[]) and r.expires_at > now()`;

const groupsByTeamId = `select ${userGroupColumns('g')} from user_group g where g.team_id = any ($1::int[])`;

/** In two halves, because each of the two indexes on the id covers a part of the groups. The first has the untagged ones too. */
const groupsByProvidedId = `
  select ${userGroupColumns('g')} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Testing'
  union all
  select ${userGroupColumns('g')} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Customer' and g.environment_tag = 'Testing'`;

/**
 * In the order of the ids, so that two processes that insert the same ids wait for each other, and not in a circle; of one id
 * the untagged group first, which stands in the way of both others.
 */
const insertGroups = `
  insert into user_group as g (provided_id, environment_tag, name, token, properties, mapping)
  select * from unnest($1::text[], $2::environment_tag[], $3::text[], $4::text[], $5::json[], $6::json[])
    as draft (provided_id, environment_tag, name, token, properties, mapping)
  order by provided_id, environment_tag nulls first
  on conflict do nothing
  returning ${userGroupColumns('g')}`;

/**
 * Locks the groups in the order of their numbers, for the same reason. A group whose token another statement replaced while
 * this one waited for it is no longer among them. Who finds a group by its current token also sees every token that was
 * replaced before: each was retired in the transaction that put its successor there.
 */
const rotateTokens = `
  with locked as (
    select g.team_id as id, asked.* from unnest($1::text[], $2::text[], $3::environment_tag[], $4::bool[], $5::int[], $6::bool[])
      as asked (current_token, new_token, tag, every_environment, grace_seconds, end_grace_periods)
    join user_group g on g.token = asked.current_token
      and (asked.every_environment or g.environment_tag is not distinct from asked.tag)
    order by g.team_id for update of g
  ), rotated as (
    update user_group g set token = locked.new_token, updated_at = now() from locked where g.team_id = locked.id
    returning ${userGroupColumns('g')}, locked.current_token, locked.grace_seconds, locked.end_grace_periods
  ), ended as (
    delete from retired_token r using rotated
    where r.team_id = rotated.team_id and (rotated.end_grace_periods or r.expires_at <= now())
  ), retired as (
    insert into retired_token (token, team_id, expires_at)
    select current_token, team_id, now() + grace_seconds * interval '1 second' from rotated where grace_seconds > 0
    returning token, expires_at
  )
  select ${userGroupColumns('rotated')}, retired.expires_at from rotated left join retired on retired.token = rotated.current_token`;
