import { setTimeout as sleep } from 'node:timers/promises';
import { silent } from '../audit-log/statements/author.ts';
import { type Database, rollBack } from '../database/client.ts';
import { ifDefined } from '../database/errors.ts';
import { countSigningKeysByKey } from '../embed-tokens/statements/signing-keys.ts';
import { countWebhookSecretsByKey } from '../webhooks/statements/secrets.ts';

/** A table with values that an encryption key encrypts. */
export type EncryptedTable = TokenTable | 'signing_key' | 'webhook';

/** How many rows of a table use a key; of `webhook`, how many secrets, of which a row may have two. */
export interface KeyUse {
  readonly table: EncryptedTable;
  /** The id of the key, in hexadecimal. */
  readonly id: string;
  readonly rows: number;
}

/**
 * The ids of the encryption keys that rows use, in hexadecimal; none before the migrations. Takes a few index accesses for each
 * key and table, however many rows there are.
 */
export const findKeyIdsInUse = (database: Pick<Database, 'query'>): Promise<string[]> =>
  ifDefined(async () => {
    const ids = await findKeyIdsOfTokens(database);
    for (const { id } of await countSigningKeysByKey(database)) ids.push(id);
    for (const { id } of await countWebhookSecretsByKey(database)) ids.push(id);
    return [...new Set(ids)];
  });

/** How many rows of each table use each encryption key. Reads a whole index of each table. */
export async function countRowsByKey(database: Pick<Database, 'query'>): Promise<KeyUse[]> {
  const signingKeys = await countSigningKeysByKey(database);
  const webhookSecrets = await countWebhookSecretsByKey(database);
  return [
    ...(await countTokensByKey(database)),
    ...signingKeys.map((use) => ({ table: 'signing_key' as const, ...use })),
    ...webhookSecrets.map((use) => ({ table: 'webhook' as const, ...use })),
  ];
}

/** The tables that hold user group tokens. In each, `token_hash` is unique and begins with the id of the key of its row. */
const tokenTables = ['user_group', 'retired_token'] as const;

/** One of {@link tokenTables}. */
export type TokenTable = (typeof tokenTables)[number];

/** Above every hash that begins with the same id. */
const lastHash = 'f'.repeat(2 * 17);

/** A token as a row stores it. */
export interface StoredToken {
  readonly tokenHash: Buffer;
  readonly tokenEncrypted: Buffer;
}

/** New values of a row, if it still has the hash `previousHash`. */
export interface Reencryption extends StoredToken {
  readonly previousHash: Buffer;
}

/**
 * The ids of the keys that encrypt tokens, in hexadecimal. Takes a few index accesses for each key and table, however many rows
 * there are.
 */
export async function findKeyIdsOfTokens({ query }: Pick<Database, 'query'>): Promise<string[]> {
  const rows = await query('key-ids-of-tokens', keyIdsOfTokens, []);
  return rows.map(([id]) => id as string);
}

/**
 * Which of the keys with these ids encrypt tokens that still identify a group, in hexadecimal. Reads the tokens of a key whose
 * grace period is over until it finds one that is not: only for keys that are missing.
 */
export async function findKeysOfLiveTokens({ query }: Pick<Database, 'query'>, ids: readonly string[]): Promise<string[]> {
  const rows = await query('keys-of-live-tokens', keysOfLiveTokens, [ids]);
  return rows.map(([id]) => id as string);
}

/** How many tokens of each table use each key, by its id in hexadecimal. Reads a whole index of each table. */
async function countTokensByKey({ query }: Pick<Database, 'query'>): Promise<{ table: TokenTable; id: string; rows: number }[]> {
  const rows = await query('tokens-by-key', tokensByKey, []);
  return rows.map(([table, id, count]) => ({ table: table as TokenTable, id: id as string, rows: Number(count) }));
}

/**
 * Tokens that use the key with this id, in the order of their hashes.
 *
 * @param after the last hash of the previous batch; undefined for the first.
 */
export async function findTokensOfKey(
  { query }: Pick<Database, 'query'>,
  { table, id, after, limit }: { table: TokenTable; id: string; after: Buffer | undefined; limit: number },
): Promise<StoredToken[]> {
  const values = [after ?? Buffer.from(id, 'hex'), Buffer.from(id + lastHash, 'hex'), limit];
  const rows = await query(`tokens-of-key-${table}`, tokensOfKey[table], values);
  return rows.map(([hash, encrypted]) => ({
    tokenHash: Buffer.from(hash as string, 'hex'),
    tokenEncrypted: Buffer.from(encrypted as string, 'hex'),
  }));
}

/**
 * Replaces hashes and encrypted tokens. A row that has another hash by now, or is being changed at this moment, stays as it is.
 * Nothing else of a row changes, `updated_at` neither.
 *
 * @returns how many rows were changed.
 */
export async function replaceStoredTokens(
  { query }: Pick<Database, 'query'>,
  table: TokenTable,
  changes: readonly Reencryption[],
): Promise<number> {
  const lists = (['previousHash', 'tokenHash', 'tokenEncrypted'] as const).map((part) => changes.map((change) => change[part]));
  return (await query(`replace-tokens-${table}`, replaceTokens[table], lists)).length;
}

/**
 * Waits until every transaction has ended that is writing to an encrypted table now: it may have encrypted with another key.
 *
 * @param onWait called once, with the numbers of PostgreSQL's processes, if one takes longer than a second.
 * @throws the reason of the signal.
 */
export async function waitForWriters(
  { query }: Pick<Database, 'query'>,
  signal: AbortSignal,
  onWait: (pids: readonly string[]) => void,
): Promise<void> {
  const find = async () => (await query('writers', writers, [])).map(([id, pid]) => ({ id, pid: String(pid) }));
  let left = await find();
  for (let tries = 1; left.length > 0; tries += 1) {
    if (tries === 10) onWait(left.map(({ pid }) => pid));
    await sleep(100, undefined, { signal }).catch(() => signal.throwIfAborted());
    const running = new Set((await find()).map(({ id }) => id));
    left = left.filter(({ id }) => running.has(id));
  }
}

const encryptedTables: readonly EncryptedTable[] = [...tokenTables, 'signing_key', 'webhook'];

const writers = `
  select distinct virtualtransaction, coalesce(pid::text, 'prepared') from pg_locks
  where mode = 'RowExclusiveLock' and relation in (${encryptedTables.map((table) => `'${table}'::regclass`).join(', ')})
    and database = (select oid from pg_database where datname = current_database())`;

/** The number of the advisory lock that a process holds while it changes which keys there are. */
const keysLock = 727_075;

/** Runs `work` while no other process does so on this database. */
export async function withKeysLock<Result>({ pool }: Pick<Database, 'pool'>, work: () => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    // Ends with its transaction, and so with the process.
    await client.query(`begin; select pg_advisory_xact_lock(${keysLock})`);
    return await work();
  } finally {
    await rollBack(client);
  }
}

const perTable = (text: (table: TokenTable) => string): Readonly<Record<TokenTable, string>> => ({
  user_group: text('user_group'),
  retired_token: text('retired_token'),
});

/** From id to id, as an index scan that skips: PostgreSQL has none of its own for `distinct`. */
const keyIdsOf = (table: TokenTable) => `(
  with recursive used as (
    (select substr(token_hash, 1, 4) as id from ${table} order by token_hash limit 1)
    union all
    select (
      select substr(token_hash, 1, 4) from ${table}
      where token_hash > used.id || decode('${lastHash}', 'hex') order by token_hash limit 1
    ) from used where used.id is not null
  )
  select encode(id, 'hex') from used where id is not null)`;

const keyIdsOfTokens = tokenTables.map(keyIdsOf).join(' union ');

const keysOfLiveTokens = `
  select id from unnest($1::text[]) as key (id), lateral (select decode(id, 'hex') as first, decode(id || '${lastHash}', 'hex') as last) as bounds
  where exists (select from user_group where token_hash > first and token_hash < last)
    or exists (select from retired_token where token_hash > first and token_hash < last and expires_at > now())`;

const tokensByKey = tokenTables
  .map((table) => `select '${table}', encode(substr(token_hash, 1, 4), 'hex'), count(*) from ${table} group by 2`)
  .join(' union all ');

const tokensOfKey = perTable(
  (table) => `
  select encode(token_hash, 'hex'), encode(token_encrypted, 'hex') from ${table}
  where token_hash > $1::bytea and token_hash < $2::bytea order by token_hash limit $3`,
);

/** Rows that a request has locked are skipped, so that neither waits for the other in a circle. */
const replaceTokens = perTable(
  (table) => `
  with ${silent}, change as (
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) as change (previous, hash, encrypted)
  ), locked as (
    select t.token_hash as previous from ${table} t join change on t.token_hash = change.previous for update of t skip locked
  )
  update ${table} t set token_hash = change.hash, token_encrypted = change.encrypted
  from change join locked using (previous) cross join silent where t.token_hash = change.previous
  returning 1`,
);
