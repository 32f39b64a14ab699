import {
  type Author,
  type Authored,
  authorColumns,
  authorLists,
  authorOf,
  insertGroupEvents,
  type OnRecorded,
  secretChange,
} from '../../audit-log/statements/insert.ts';
import type { QueueKey } from '../../concurrency/fair-queue.ts';
import { createBatchLoader, writeLimits } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes, decodeBytes, type ParameterColumn, toLists, unnest } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import {
  changeTime,
  type Expecting,
  isExpected,
  type OtherVersion,
  UserGroupRow,
  userGroupColumnCount,
  userGroupSelectList,
  versionAfter,
} from './columns.ts';

/** A token to replace, every rule checked. */
export interface Rotation extends Authored, Expecting {
  /** The keyed hashes of the current token in hexadecimal, one under each key: what is stored has one of them. */
  readonly currentHashes: readonly string[];
  /** The current token as a retired one is stored; none without a grace period. */
  readonly retired: StoredToken | undefined;
  /** The new token as it is stored. No two rotations have the same. */
  readonly replacement: StoredToken;
  /** The environment of the groups whose tokens may be replaced; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  /** How long the current token still identifies the group, in seconds; 0 ends it at once. */
  readonly graceSeconds: number;
  /** Whether the grace periods of tokens that were replaced earlier end at once. */
  readonly endGracePeriods: boolean;
}

/** A token as it is stored. */
interface StoredToken {
  readonly tokenHash: Uint8Array;
  readonly tokenEncrypted: Uint8Array;
}

/** The result of a rotation: the group, and when its previous token expires; null if it has expired already. */
export interface Rotated {
  readonly userGroup: UserGroup;
  readonly previousTokenExpiresAt: Date | null;
}

/** The rotation of user group tokens, which writes `user_group`, `retired_token` and `event` in one statement. */
export interface TokenRotation {
  /** Replaces a token; undefined when it is not, or no longer, the current token of a group in that environment. */
  rotateToken(rotation: Rotation, queueKey?: QueueKey): Promise<Rotated | OtherVersion | undefined>;
}

/** Binds the rotation of user group tokens to a database. */
export function bindTokenRotation({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): TokenRotation {
  return {
    rotateToken: createBatchLoader<Rotation, Rotated | OtherVersion>({
      keyOf: ({ replacement }) => keyOf(replacement), // never shared: of several rotations of a token, the statement performs one
      ...writeLimits,
      load: async (rotations) => {
        const requested = rotations.flatMap(toParameters);
        const rows = await query('rotate-tokens', rotateTokens, [...toLists(fields, requested), ...authorLists(requested)]);
        const authors = new Map(rotations.map(({ replacement, author }) => [keyOf(replacement), author]));
        return new Map(
          rows.map((row): [string, Rotated | OtherVersion] => {
            const userGroup = new UserGroupRow(row);
            const [expiresAt, refusedHash] = row.slice(userGroupColumnCount) as [string | null, string | null];
            if (refusedHash !== null) return [keyOf({ tokenHash: decodeBytes(refusedHash) }), { current: userGroup }];
            const key = keyOf(userGroup);
            onRecorded({ author: authors.get(key) as Author, providedId: userGroup.providedId, changesBytes: 0 });
            return [key, { userGroup, previousTokenExpiresAt: columnTypes.nullableTime.decode(expiresAt) }];
          }),
        );
      },
    }),
  };
}

const keyOf = ({ tokenHash }: Pick<StoredToken, 'tokenHash'>): string => Buffer.from(tokenHash).toString('latin1');

const parameters = {
  currentHash: { sql: 'current_hash', type: 'bytea' },
  retiredHash: { sql: 'retired_hash', type: 'bytea' },
  retiredEncrypted: { sql: 'retired_encrypted', type: 'bytea' },
  newHash: { sql: 'new_hash', type: 'bytea' },
  newEncrypted: { sql: 'new_encrypted', type: 'bytea' },
  environmentTag: { sql: 'tag', type: 'environment_tag' },
  allEnvironments: { sql: 'all_environments', type: 'bool' },
  graceSeconds: { sql: 'grace_seconds', type: 'int' },
  endGracePeriods: { sql: 'end_grace_periods', type: 'bool' },
  expectedVersions: { sql: 'expected_versions', type: 'text' }, // a list: PostgreSQL has no lists of lists
} as const satisfies Readonly<Record<string, ParameterColumn>>;

type Parameters = Authored & Record<keyof typeof parameters, unknown>;

const fields = Object.keys(parameters) as (keyof typeof parameters)[];

/** A row of parameters for each hash that the current token may be stored with. One of them at most finds a group. */
function toParameters({ currentHashes, retired, replacement, expectedVersions, ...rest }: Rotation): Parameters[] {
  return currentHashes.map((hash) => ({
    currentHash: Buffer.from(hash, 'hex'),
    retiredHash: retired?.tokenHash,
    retiredEncrypted: retired?.tokenEncrypted,
    newHash: replacement.tokenHash,
    newEncrypted: replacement.tokenEncrypted,
    ...rest,
    expectedVersions: expectedVersions && `{${expectedVersions.join(',')}}`,
  }));
}

/**
 * Locks the groups in the order of their numbers, so that two processes that rotate the same tokens wait for each other, and not
 * in a circle. A group whose token another statement replaced while this one waited for it is no longer among them. A statement
 * that finds a group by its current token also sees every token that was replaced before: each was retired in the transaction
 * that stored its successor. The version is compared on the locked row. A grace period begins now, also where the time of the
 * change is that of an earlier one, made while the clock was ahead ({@link changeTime}).
 */
const rotateTokens = `
  with locked as (
    select ${userGroupSelectList('g')}, requested.*, ${isExpected('g.version', 'requested.expected_versions::int[]')} as is_expected
    from ${unnest([...Object.values(parameters), ...authorColumns], 'requested')}
    join user_group g on g.token_hash = requested.current_hash
      and (requested.all_environments or g.environment_tag is not distinct from requested.tag)
    order by g.team_id for update of g
  ), rotated as (
    update user_group g set token_hash = locked.new_hash, token_encrypted = locked.new_encrypted, updated_at = ${changeTime('g.updated_at')},
      version = ${versionAfter('g.version')}
    from locked where g.team_id = locked.team_id and locked.is_expected
    returning ${userGroupSelectList('g')}, locked.retired_hash, locked.retired_encrypted, locked.grace_seconds,
      locked.end_grace_periods, ${authorOf('locked')}
  ), ended as (
    delete from retired_token r using rotated
    where r.team_id = rotated.team_id and (rotated.end_grace_periods or r.expires_at <= now())
  ), retired as (
    insert into retired_token (token_hash, token_encrypted, team_id, expires_at)
    select retired_hash, retired_encrypted, team_id, least(updated_at, clock_timestamp()) + grace_seconds * interval '1 second' from rotated
    where grace_seconds > 0
    returning token_hash, expires_at
  ), recorded as (${insertGroupEvents({
    type: 'user_group.token_rotated',
    table: 'rotated',
    author: authorOf('rotated'),
    changes: `'${secretChange('token')}'::json`,
  })}
    from rotated
  )
  select ${userGroupSelectList('rotated')}, retired.expires_at, null::bytea
  from rotated left join retired on retired.token_hash = rotated.retired_hash
  union all
  select ${userGroupSelectList('locked')}, null, locked.new_hash from locked where not locked.is_expected`;
