import type { Database } from '../database/client.ts';
import type { ApiToken, EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { collapse } from './collapse.ts';

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

/** An API token as found by its secret's hash; whether it has expired is judged by the database's clock. */
type FoundApiToken = ApiToken & { readonly expired: boolean };

/** The statements that many requests share: each is asked per key, and sent once for all keys of a turn of the event loop. */
export interface Statements {
  /** The API token with this hash (SHA-256, hexadecimal), revoked and expired ones included. */
  apiToken(secretHash: string): Promise<FoundApiToken | undefined>;
  /** The group that this user group token identifies: the current one, or a retired one in its grace period. */
  groupByToken(token: string): Promise<UserGroup | undefined>;
  /** The group with this internal number. */
  groupByTeamId(teamId: number): Promise<UserGroup | undefined>;
  /** The groups with this provided id: none, one, or two of which one is `Customer` and one `Testing`. */
  groupsByProvidedId(providedId: string): Promise<UserGroup[] | undefined>;
  /** Inserts a group and answers with it; with none when a stored group holds the id. Concurrent drafts for one id: the first. */
  insertGroup(draft: UserGroupDraft): Promise<UserGroup | undefined>;
}

/** The most keys of a look-up: enough for every request of a turn, small enough not to hold up other statements. */
const maxLookupKeys = 512;

/** Fewer than of a look-up: a row is written, and locked until all of them are. */
const maxInsertKeys = 128;

const groupColumns = (table: string) =>
  [
    ...[`${table}.team_id as "teamId"`, `${table}.provided_id as "providedId"`, `${table}.environment_tag as "environmentTag"`],
    ...[`${table}.name`, `${table}.token`, `${table}.properties`, `${table}.mapping`],
    ...[`${table}.created_at as "createdAt"`, `${table}.updated_at as "updatedAt"`],
  ].join(', ');

/** Binds the shared statements to a database. */
export function bindStatements({ query: rows }: Pick<Database, 'query'>): Statements {
  return {
    apiToken: collapse({
      identity: (hash) => hash,
      maxKeys: maxLookupKeys,
      load: async (hashes) => {
        const found = await rows<FoundApiToken & { hash: string }>('api-tokens-by-hash', apiTokensByHash, [hashes]);
        return new Map(found.map(({ hash, ...apiToken }) => [hash, apiToken]));
      },
    }),
    groupByToken: collapse({
      identity: (token) => token,
      maxKeys: maxLookupKeys,
      load: async (tokens) => {
        const found = await rows<UserGroup & { asked: string }>('groups-by-token', groupsByToken, [tokens]);
        return new Map(found.map(({ asked, ...group }) => [asked, group]));
      },
    }),
    groupByTeamId: collapse({
      identity: String,
      maxKeys: maxLookupKeys,
      load: async (teamIds) => {
        const found = await rows<UserGroup>('groups-by-team-id', groupsByTeamId, [teamIds]);
        return new Map(found.map((group) => [String(group.teamId), group]));
      },
    }),
    groupsByProvidedId: collapse({
      identity: (providedId) => providedId,
      maxKeys: maxLookupKeys,
      load: async (providedIds) => {
        const found = await rows<UserGroup>('groups-by-provided-id', groupsByProvidedId, [providedIds]);
        const groups = new Map<string, UserGroup[]>();
        for (const group of found) groups.set(group.providedId, [...(groups.get(group.providedId) ?? []), group]);
        return groups;
      },
    }),
    insertGroup: collapse<UserGroupDraft, UserGroup>({
      identity: draftIdentity,
      maxKeys: maxInsertKeys,
      load: async (drafts) => {
        const column = <Name extends keyof UserGroupDraft>(name: Name) => drafts.map((draft) => draft[name]);
        const values = [
          ...[column('providedId'), column('environmentTag'), column('name')],
          ...[column('token'), column('properties'), column('mapping')],
        ];
        const inserted = await rows<UserGroup>('insert-groups', insertGroups, values);
        return new Map(inserted.map((group) => [draftIdentity(group), group]));
      },
    }),
  };
}

const draftIdentity = ({ environmentTag, providedId }: Pick<UserGroupDraft, 'environmentTag' | 'providedId'>): string =>
  `${environmentTag ?? ''} ${providedId}`;

const apiTokensByHash = `
  select encode(secret_hash, 'hex') as hash, id, name, secret_hash as "secretHash", environment_tag as "environmentTag", scopes,
    created_at as "createdAt", expires_at as "expiresAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
    coalesce(expires_at <= now(), false) as expired
  from api_token where secret_hash = any (select decode(hash, 'hex') from unnest($1::text[]) as hash)`;

const groupsByToken = `
  select g.token as asked, ${groupColumns('g')} from user_group g where g.token = any ($1::text[])
  union all
  select r.token as asked, ${groupColumns('g')} from retired_token r join user_group g using (team_id)
  where r.token = any ($1::text[]) and r.expires_at > now()`;

const groupsByTeamId = `select ${groupColumns('g')} from user_group g where g.team_id = any ($1::int[])`;

/** In two halves, because each of the two indexes on the id covers a part of the groups. The first has the untagged ones too. */
const groupsByProvidedId = `
  select ${groupColumns('g')} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Testing'
  union all
  select ${groupColumns('g')} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Customer' and g.environment_tag = 'Testing'`;

/** In the order of the ids, so that two processes that insert the same ids wait for each other, and not in a circle. */
const insertGroups = `
  insert into user_group as g (provided_id, environment_tag, name, token, properties, mapping)
  select * from unnest($1::text[], $2::environment_tag[], $3::text[], $4::text[], $5::json[], $6::json[])
    as draft (provided_id, environment_tag, name, token, properties, mapping)
  order by provided_id, environment_tag
  on conflict do nothing
  returning ${groupColumns('g')}`;
