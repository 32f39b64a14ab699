import type { Sql } from '../../database/client.ts';
import { type ParameterColumn, toByteaArray, toLists, unnest } from '../../database/columns.ts';
import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import { type UserGroupChange, updatedAttributes } from '../sql.ts';
import { maxVersion } from '../values.ts';

/** A group that one of the tokens asked for identifies, now or until a grace period ends. */
export interface TokenHolder {
  readonly teamId: number;
  /** The keyed hash of the token, in hexadecimal. */
  readonly tokenHash: string;
}

/** New values of a group; undefined leaves a field as it is. One that is not suspended leaves the status as it is. */
export interface ImportUpdate extends UserGroupChange {
  readonly suspended: boolean;
  readonly suspendedReason: string | null | undefined;
  readonly teamId: number;
  /** The environment that the group must still have. */
  readonly environmentTag: EnvironmentTag | null;
  readonly tokenHash: Buffer | undefined;
  readonly tokenEncrypted: Buffer | undefined;
}

/**
 * Has PostgreSQL use indexes until the transaction ends, also behind a pooler: a table that was empty a moment ago has no
 * statistics yet, and all of it would be read for each batch. A wait for a lock may take as long as a statement: no client waits
 * for a response. The triggers stay silent: an import records one event for each transaction.
 */
export const importSettings = `
  select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '0', true), set_config('gateway.silent', 'on', true)`;

/** The groups that tokens with these keyed hashes (hexadecimal) identify. */
export const findTokenHolders = (sql: Sql, hashes: readonly string[]): Promise<TokenHolder[]> =>
  sql('import-token-holders', tokenHolders, [toByteaArray(hashes)]);

/**
 * Changes groups. Returns how many are still there in their environments, and how many of these were different before; the others
 * are not written.
 */
export async function updateImported(
  sql: Sql,
  updates: readonly ImportUpdate[],
): Promise<{ readonly found: number; readonly changed: number }> {
  const values = [
    ...toLists(['teamId', 'environmentTag', 'tokenHash', 'tokenEncrypted', 'suspended', 'suspendedReason'], updates),
    updates.map(({ suspendedReason }) => suspendedReason !== undefined),
    ...updatedAttributes.flatMap(([name]) => [
      updates.map((update) => update[name] !== undefined),
      updates.map((update) => update[name]),
    ]),
  ];
  const [counts] = await sql<{ found: number; changed: number }>('import-update-groups', updateGroups, values);
  return counts ?? { found: 0, changed: 0 };
}

/**
 * Removes retired tokens that are current again (keyed hashes, hexadecimal): those of the groups themselves, and those whose
 * grace period has ended.
 */
export async function removeRetired(sql: Sql, hashes: readonly string[], teamIds: readonly number[]): Promise<void> {
  await sql('import-delete-retired-tokens', deleteRetired, [toByteaArray(hashes), teamIds]);
}

const tokenHolders = `
  select team_id as "teamId", encode(token_hash, 'hex') as "tokenHash" from user_group where token_hash = any ($1::bytea[])
  union all
  select team_id, encode(token_hash, 'hex') from retired_token where token_hash = any ($1::bytea[]) and expires_at > now()`;

const updateColumns: readonly ParameterColumn[] = [
  { sql: 'id', type: 'int' },
  { sql: 'environment', type: 'environment_tag' },
  { sql: 'new_hash', type: 'bytea' },
  { sql: 'new_encrypted', type: 'bytea' },
  { sql: 'suspends', type: 'bool' },
  { sql: 'new_reason', type: 'text' },
  { sql: 'has_reason', type: 'bool' },
  ...updatedAttributes.flatMap(([, { sql, type }]) => [
    { sql: `has_${sql}`, type: 'bool' },
    { sql: `new_${sql}`, type },
  ]),
];

const changes = updatedAttributes.map(([, { sql }]) => ({
  set: `${sql} = case when has_${sql} then new_${sql} else g.${sql} end`,
  isDifferent: `has_${sql} and g.${sql}::text is distinct from new_${sql}::text`,
}));

/** An import suspends groups, and resumes none: a file may be older than the suspension. */
const suspension = {
  set: 'suspended = g.suspended or suspends, suspended_reason = case when suspends and has_reason then new_reason else g.suspended_reason end',
  isDifferent: 'suspends and (not g.suspended or has_reason and g.suspended_reason is distinct from new_reason)',
};

/** Locked in the order of their numbers, to prevent deadlocks. */
const updateGroups = `
  with locked as (
    select draft.* from ${unnest(updateColumns, 'draft')}
    join user_group g on g.team_id = draft.id and g.environment_tag is not distinct from draft.environment
    order by g.team_id for update of g
  ), changed as (
    update user_group g set ${[suspension, ...changes].map(({ set }) => set).join(', ')},
      token_hash = coalesce(new_hash, g.token_hash), token_encrypted = coalesce(new_encrypted, g.token_encrypted),
      updated_at = greatest(clock_timestamp(), g.updated_at), version = g.version % ${maxVersion} + 1
    from locked
    where g.team_id = locked.id and (new_hash is not null or ${[suspension, ...changes].map(({ isDifferent }) => isDifferent).join(' or ')})
    returning 1
  )
  select (select count(*) from locked)::int as found, (select count(*) from changed)::int as changed`;

const deleteRetired = `
  delete from retired_token
  where token_hash = any ($1::bytea[]) and (expires_at <= now() or team_id = any ($2::int[]))`;
