import { silent } from '../../audit-log/statements/author.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes } from '../../database/columns.ts';
import type { SecretColumn } from '../secrets.ts';

/** A secret of a webhook, as it is stored. */
export interface StoredSecret {
  /** The number of the webhook. */
  readonly id: number;
  readonly column: SecretColumn;
  readonly encrypted: Buffer;
}

/** How many secrets of webhooks use each encryption key, by its id in hexadecimal. */
export async function countWebhookSecretsByKey({ query }: Pick<Database, 'query'>): Promise<{ id: string; rows: number }[]> {
  const rows = await query('webhook-secrets-by-key', secretsByKey, []);
  return rows.map(([id, count]) => ({ id: id as string, rows: Number(count) }));
}

/** The secrets of webhooks that use the encryption key with this id. */
export async function findWebhookSecretsOfKey({ query }: Pick<Database, 'query'>, keyId: string): Promise<StoredSecret[]> {
  const rows = await query('webhook-secrets-of-key', secretsOfKey, [keyId]);
  return rows.map(([id, column, encrypted]) => ({
    id: Number(id),
    column: column as SecretColumn,
    encrypted: columnTypes.bytes.decode(encrypted as string),
  }));
}

/** Replaces an encrypted secret of a webhook, unless it was replaced since. Returns whether it did. */
export async function replaceWebhookSecret(
  { query }: Pick<Database, 'query'>,
  { id, column, encrypted }: StoredSecret,
  replacement: Buffer,
): Promise<boolean> {
  return (await query(`replace-webhook-${column}`, replaceSecret[column], [id, encrypted, replacement])).length === 1;
}

/** Webhooks are few: no index. */
const secrets = `(
  select id, 'secret_encrypted' as name, secret_encrypted as encrypted from webhook
  union all
  select id, 'previous_secret_encrypted', previous_secret_encrypted from webhook where previous_secret_encrypted is not null
) as secret`;

const secretsByKey = `select encode(substr(encrypted, 1, 4), 'hex'), count(*) from ${secrets} group by 1`;

const secretsOfKey = `select id, name, encrypted from ${secrets} where substr(encrypted, 1, 4) = decode($1, 'hex') order by id`;

const replaceStatement = (column: SecretColumn): string =>
  `with ${silent} update webhook set ${column} = $3::bytea from silent where id = $1::int and ${column} = $2::bytea returning 1`;

const replaceSecret: Readonly<Record<SecretColumn, string>> = {
  secret_encrypted: replaceStatement('secret_encrypted'),
  previous_secret_encrypted: replaceStatement('previous_secret_encrypted'),
};
