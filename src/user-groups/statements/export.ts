import type { Database } from '../../database/client.ts';
import { decodeBytes, textRows } from '../../database/columns.ts';
import type { KeyRing } from '../../encryption/keys.ts';
import { decryptToken } from '../../encryption/stored-token.ts';
import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import { givenAttributes, type StoredValues } from '../attribute-values.ts';

/** A user group with its token, as `groups import` takes it back. JSON is the stored text. */
export interface ExportedGroup extends StoredValues {
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  readonly status: 'active' | 'suspended';
  readonly suspendedReason: string | null;
  readonly token: string;
}

/** The most groups of a page, and about how many bytes of mappings and properties. */
const maxPageRows = 1_000;
const maxPageBytes = 1_048_576;

/**
 * Reads all groups, or those of one environment, as they are at one moment, in pages of bounded size.
 *
 * @param environment `null` means untagged; undefined means every environment.
 * @returns pages in the order of creation; `fraction` is the part of the table that was read, from 0 to 1.
 * @throws DecryptionError when a key is missing or a row was changed.
 */
export async function* exportUserGroups(
  { pool, keys }: Pick<Database, 'pool'> & { readonly keys: KeyRing },
  environment: EnvironmentTag | null | undefined,
): AsyncGenerator<{ readonly groups: readonly ExportedGroup[]; readonly fraction: number }> {
  const client = await pool.connect();
  let isDone = false;
  const read = async (text: string, values: unknown[]) =>
    (await client.query<(string | null)[]>({ ...textRows, text, values })).rows;
  try {
    await client.query(beginSnapshot);
    const [[most] = []] = await read(lastNumber, []);
    let last = 0;
    let limit = 64;
    while (true) {
      const rows = await read(page, [last, limit, environment === undefined, environment ?? null, maxPageBytes]);
      if (rows.length === 0) break;
      last = Number(rows.at(-1)?.[0]);
      // After a page that was cut off because of its size, about as many rows as it had: PostgreSQL measures all that it may
      // return.
      limit = Math.max(1, Math.min(maxPageRows, 2 * rows.length));
      const groups = rows.filter(([, providedId]) => providedId !== null).map((row) => toGroup(row, keys));
      yield { groups, fraction: last / Number(most) };
    }
    await client.query('commit');
    isDone = true;
  } finally {
    client.release(!isDone); // a connection whose transaction did not end is closed
  }
}

function toGroup(row: readonly (string | null)[], keys: KeyRing): ExportedGroup {
  const [, providedId, environmentTag, hash, encrypted, suspended, suspendedReason = null, ...given] = row;
  const stored = { tokenHash: decodeBytes(hash as string), tokenEncrypted: decodeBytes(encrypted as string) };
  const values = givenAttributes.map(([name], index) => [name, given[index] ?? null]);
  return {
    ...(Object.fromEntries(values) as StoredValues),
    providedId: providedId as string,
    environmentTag: environmentTag as EnvironmentTag | null,
    status: suspended === 't' ? 'suspended' : 'active',
    suspendedReason,
    token: decryptToken(keys, 'user_group', stored),
  };
}

/** The reader of the output may pause for longer than a server allows transactions to be idle. */
const beginSnapshot = `
  begin isolation level repeatable read read only;
  set local idle_in_transaction_session_timeout = 0`;

const lastNumber = `
  select max(team_id) from user_group`;

const columns = [
  ...['provided_id', 'environment_tag', 'token_hash', 'token_encrypted', 'suspended', 'suspended_reason'],
  ...givenAttributes.map(([, { sql }]) => sql),
];

const bytesOfJson = givenAttributes
  .filter(([, { type }]) => type === 'json')
  .map(([, { sql }]) => `coalesce(octet_length(g.${sql}::text), 0)`)
  .join(' + ');

/**
 * The next rows by number, whatever their environment, so that a page takes the same time in each; those of other environments
 * are empty but for the number. The page ends with the row that reaches the limit in bytes.
 */
const page = `
  select team_id, ${columns.join(', ')} from (
    select next.team_id, ${columns.map((column) => `g.${column}`).join(', ')},
      sum(${bytesOfJson}) over (order by next.team_id rows between unbounded preceding and 1 preceding) as bytes_before
    from (select team_id from user_group where team_id > $1 order by team_id limit $2) as next
    left join user_group g on g.team_id = next.team_id and ($3 or g.environment_tag is not distinct from $4::environment_tag)
  ) as measured
  where bytes_before is null or bytes_before < $5 order by team_id`;
