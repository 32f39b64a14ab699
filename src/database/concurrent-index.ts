import type pg from 'pg';
import type { Database } from './client.ts';
import type { Migration } from './migrations.ts';

/**
 * Builds the index of a migration while others write to its table, on a connection of its own. Does nothing if the index is
 * complete, and first drops what an interrupted build left. The caller makes sure that one process at a time builds it.
 *
 * @param timeoutMs how long the build may take.
 * @throws Error that says how to build it by hand when the server ends the build.
 */
export async function buildIndex(
  { openConnection }: Pick<Database, 'openConnection'>,
  { sql }: Migration,
  index: string,
  timeoutMs: number,
): Promise<void> {
  const client = await openConnection(timeoutMs);
  try {
    const state = await indexState(client, index);
    if (state === 'complete') return;
    if (state === 'incomplete') await client.query(`drop index concurrently ${client.escapeIdentifier(index)}`);
    await client.query(sql);
  } catch (cause) {
    throw new Error(
      `${(cause as Error).message}. The next start tries again. If the role's statement_timeout or lock_timeout is too short for the index, ` +
        `build it without them first:\n\n  drop index concurrently if exists ${client.escapeIdentifier(index)};\n  ${sql.trim()}\n`,
      { cause },
    );
  } finally {
    await client.end().catch(() => {});
  }
}

async function indexState(client: pg.ClientBase, index: string): Promise<'absent' | 'incomplete' | 'complete'> {
  const { rows } = await client.query<{ complete: boolean }>(
    `select i.indisvalid and i.indisready as complete from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relname = $1 and pg_table_is_visible(c.oid)`,
    [index],
  );
  if (!rows[0]) return 'absent';
  return rows[0].complete ? 'complete' : 'incomplete';
}
