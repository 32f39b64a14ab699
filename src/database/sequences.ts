import type { Database } from './client.ts';

/** A sequence whose next number a row has. */
interface SequenceBehind {
  readonly name: string;
  /** The statement that advances it. */
  readonly remedy: string;
}

/** The sequences that are behind the rows of their tables: of the tables where a number is the key of a row. */
export async function findSequencesBehind({ pool }: Pick<Database, 'pool'>): Promise<readonly SequenceBehind[]> {
  const { rows } = await pool.query<SequenceBehind>(
    `select name, format('select setval(%L, %s);', name, used) as remedy from (values
       ('user_group_team_id_seq', (select max(team_id)::bigint from user_group)),
       ('api_token_id_seq', (select max(id)::bigint from api_token)),
       ('webhook_id_seq', (select max(id)::bigint from webhook)),
       ('webhook_delivery_id_seq', (select max(id)::bigint from webhook_delivery))
     ) as sequence (name, used) where used > coalesce(pg_sequence_last_value(name::regclass), 0)`,
  );
  return rows;
}
