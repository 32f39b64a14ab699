import type { Share } from '../../fair-queue.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { maxWriteKeys } from './batch-sizes.ts';
import { columnTypes, type ParameterColumn, toLists, unnest } from './columns.ts';
import { UserGroupRow, userGroupColumnCount, userGroupSelectList } from './user-group-columns.ts';

/** A token to replace, every rule checked. */
export interface Rotation {
  readonly currentToken: string;
  readonly newToken: string;
  /** The environment of the groups whose tokens may be replaced; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  /** How long the current token still identifies the group, in seconds; 0 ends it at once. */
  readonly graceSeconds: number;
  /** Whether the grace periods of tokens that were replaced earlier end at once. */
  readonly endGracePeriods: boolean;
}

/** The result of a rotation: the group, and when its previous token expires; null if it has expired already. */
export interface Rotated {
  readonly userGroup: UserGroup;
  readonly previousTokenExpiresAt: Date | null;
}

/** The rotation of user group tokens, which writes `user_group` and `retired_token` in one statement. */
export interface TokenRotation {
  /** Replaces a token; undefined when it is not, or no longer, the current token of a group in that environment. */
  rotateToken(rotation: Rotation, share?: Share): Promise<Rotated | undefined>;
}

/** Binds the rotation of user group tokens to a database. */
export function bindTokenRotation({ query }: Pick<Database, 'query'>): TokenRotation {
  return {
    rotateToken: createBatchLoader<Rotation, Rotated>({
      keyOf: ({ newToken }) => newToken, // never shared: of several rotations of a token, the statement performs one
      maxKeys: maxWriteKeys,
      load: async (rotations) => {
        const rows = await query('rotate-tokens', rotateTokens, toLists(fields, rotations));
        return new Map(
          rows.map((row) => {
            const userGroup = new UserGroupRow(row);
            const expiresAt = row[userGroupColumnCount] as string | null;
            return [userGroup.token, { userGroup, previousTokenExpiresAt: columnTypes.nullableTime.decode(expiresAt) }];
          }),
        );
      },
    }),
  };
}

const parameters = {
  currentToken: { sql: 'current_token', type: 'text' },
  newToken: { sql: 'new_token', type: 'text' },
  environmentTag: { sql: 'tag', type: 'environment_tag' },
  allEnvironments: { sql: 'all_environments', type: 'bool' },
  graceSeconds: { sql: 'grace_seconds', type: 'int' },
  endGracePeriods: { sql: 'end_grace_periods', type: 'bool' },
} as const satisfies Readonly<Record<keyof Rotation, ParameterColumn>>;

const fields = Object.keys(parameters) as (keyof Rotation)[];

/**
 * Locks the groups in the order of their numbers, so that two processes that rotate the same tokens wait for each other, and not
 * in a circle. A group whose token another statement replaced while this one waited for it is no longer among them. A statement
 * that finds a group by its current token also sees every token that was replaced before: each was retired in the transaction
 * that stored its successor.
 */
const rotateTokens = `
  with locked as (
    select g.team_id as id, requested.* from ${unnest(Object.values(parameters), 'requested')}
    join user_group g on g.token = requested.current_token
      and (requested.all_environments or g.environment_tag is not distinct from requested.tag)
    order by g.team_id for update of g
  ), rotated as (
    update user_group g set token = locked.new_token, updated_at = now() from locked where g.team_id = locked.id
    returning ${userGroupSelectList('g')}, locked.current_token, locked.grace_seconds, locked.end_grace_periods
  ), ended as (
    delete from retired_token r using rotated
    where r.team_id = rotated.team_id and (rotated.end_grace_periods or r.expires_at <= now())
  ), retired as (
    insert into retired_token (token, team_id, expires_at)
    select current_token, team_id, now() + grace_seconds * interval '1 second' from rotated where grace_seconds > 0
    returning token, expires_at
  )
  select ${userGroupSelectList('rotated')}, retired.expires_at
  from rotated left join retired on retired.token = rotated.current_token`;
