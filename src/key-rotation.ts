import type { Logger } from 'pino';
import { silent } from './caller.ts';
import { runPeriodically } from './concurrency.ts';
import { type Database, rollBack, type Sql } from './database/client.ts';
import { ifDefined } from './database/errors.ts';
import { DecryptionError, decryptToken, encryptToken, type KeyRing, type StoredToken } from './encryption/keys.ts';

/** The tables with user group tokens. In each, `token_hash` is unique and begins with the id of the key of its row. */
const tokenTables = ['user_group', 'retired_token'] as const;

/** One of {@link tokenTables}. */
export type TokenTable = (typeof tokenTables)[number];

/** A table with values that an encryption key encrypts. */
export type EncryptedTable = TokenTable | 'signing_key' | 'webhook';

/** How many rows of a table use a key; of `webhook`, how many secrets, of which a row may have two. */
export interface KeyUse {
  readonly table: EncryptedTable;
  /** The id of the key, in hexadecimal. */
  readonly id: string;
  readonly rows: number;
}

/** A private key or a secret of a webhook: there are few of them. */
interface StoredSecret {
  readonly table: 'signing_key' | 'webhook';
  readonly column: string;
  /** The row, whose number or id is a part of the encryption. */
  readonly id: string;
  readonly value: Uint8Array;
}

const findSecrets = (sql: Sql): Promise<StoredSecret[]> =>
  sql(
    'encrypted-secrets',
    `select 'signing_key' as "table", 'private_key_encrypted' as "column", id, private_key_encrypted as value from signing_key
    union all select 'webhook', 'secret_encrypted', id::text, secret_encrypted from webhook
    union all select 'webhook', 'previous_secret_encrypted', id::text, previous_secret_encrypted from webhook
      where previous_secret_encrypted is not null`,
    [],
  );

/** The id of the key that encrypts a value, in hexadecimal. */
const keyIdOf = (value: Uint8Array): string => Buffer.from(value.subarray(0, 4)).toString('hex');

/** Above every hash that begins with the same id. */
const lastHash = 'f'.repeat(2 * 17);

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
  select encode(id, 'hex') as id from used where id is not null)`;

/** The ids of the keys that encrypt tokens, in hexadecimal. Takes a few index accesses for each key and table. */
async function findKeyIdsOfTokens(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }>('key-ids-of-tokens', tokenTables.map(keyIdsOf).join(' union '), []);
  return rows.map(({ id }) => id);
}

/** The ids of the encryption keys that rows use, in hexadecimal; none before the migrations. */
export const findKeyIdsInUse = ({ sql }: Database): Promise<string[]> =>
  ifDefined(async () => {
    const secrets = await findSecrets(sql);
    return [...new Set([...(await findKeyIdsOfTokens(sql)), ...secrets.map(({ value }) => keyIdOf(value))])];
  });

/** Which of the keys with these ids encrypt tokens that still identify a group. For keys that are missing. */
async function findKeysOfLiveTokens(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }>('keys-of-live-tokens', keysOfLiveTokens, [ids]);
  return rows.map(({ id }) => id);
}

const keysOfLiveTokens = `
  select id from unnest($1::text[]) as key (id), lateral (select decode(id, 'hex') as first, decode(id || '${lastHash}', 'hex') as last) as bounds
  where exists (select from user_group where token_hash > first and token_hash < last)
    or exists (select from retired_token where token_hash > first and token_hash < last and expires_at > now())`;

/** How often a gateway looks for keys that it lacks. */
const missingKeyLookMs = 30_000;

/**
 * Sees to it that `keys.missing` says whether tokens that still identify a group are stored under a key that this process lacks.
 * Until it has it, look-ups by token and `/readyz` respond with 503.
 *
 * @returns a function that ends that.
 */
export function watchMissingKeys(sql: Sql, keys: KeyRing, log: Logger): () => Promise<void> {
  const look = async () => {
    const lacking = (await findKeyIdsOfTokens(sql)).filter((id) => !keys.has(id));
    const [missing] = lacking.length > 0 ? await findKeysOfLiveTokens(sql, lacking) : [];
    if (missing !== undefined && missing !== keys.missing)
      log.error({ key: missing }, 'an encryption key is missing: the command doctor says where it belongs');
    if (missing === undefined && keys.missing !== undefined) log.info('no encryption key is missing any more');
    keys.missing = missing;
  };
  return runPeriodically(look, {
    firstDelayMs: 0,
    nextDelayMs: () => missingKeyLookMs,
    onFailure: (err) => log.warn({ err }, 'cannot look for missing encryption keys'),
  });
}

/** How many rows of each table use each encryption key. Reads a whole index of each table with tokens. */
export async function countRowsByKey({ sql }: Database): Promise<KeyUse[]> {
  const texts = tokenTables.map(
    (table) =>
      `select '${table}' as "table", encode(substr(token_hash, 1, 4), 'hex') as id, count(*)::int as rows from ${table} group by 2`,
  );
  const uses = await sql<KeyUse>('tokens-by-key', texts.join(' union all '), []);
  const secrets = new Map<string, KeyUse>();
  for (const { table, value } of await findSecrets(sql)) {
    const id = keyIdOf(value);
    secrets.set(`${table} ${id}`, { table, id, rows: (secrets.get(`${table} ${id}`)?.rows ?? 0) + 1 });
  }
  return [...uses, ...secrets.values()];
}

/** How many tokens are read and written in one statement: few enough that a request waits only milliseconds for one of them. */
const batchSize = 200;

/** How often the whole is gone through, because rows may be skipped while requests change them. */
const maxPasses = 5;

/** What a re-encryption has done. */
export interface ReencryptionResult {
  /** How many tokens, signing keys and secrets of webhooks were re-encrypted. */
  readonly changed: number;
  /** Rows that still use another key: those that cannot be decrypted, and those that a gateway wrote with it meanwhile. */
  readonly remaining: readonly KeyUse[];
  /** Why values cannot be decrypted, the first few. */
  readonly problems: readonly string[];
}

/**
 * Encrypts every user group token, signing key and secret of a webhook with the first key that uses another one. Requests
 * continue meanwhile. It can be interrupted at any time; the next call does what is left.
 *
 * @param onProgress hears how many of how many values are done.
 */
export async function reencryptAll(
  database: Database,
  keys: KeyRing,
  onProgress: (done: number, total: number) => void,
): Promise<ReencryptionResult> {
  const { sql } = database;
  const [first] = keys.ids;
  const findOthers = async () => (await countRowsByKey(database)).filter(({ id }) => id !== first);
  let others = await findOthers();
  const total = others.reduce((sum, { rows }) => sum + rows, 0);
  const problems = new Set<string>();
  let changed = 0;
  const count = (rows: number): void => {
    changed += rows;
    onProgress(Math.min(changed, total), total);
  };
  /** What `work` returns; undefined, with the reason among the problems, if a value cannot be decrypted. */
  const tryDecrypt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      if (problems.size < 10) problems.add(error.message);
      return undefined;
    }
  };

  async function reencryptTokens(table: TokenTable, id: string): Promise<void> {
    let after = Buffer.from(id, 'hex');
    const end = Buffer.from(id + lastHash, 'hex');
    for (;;) {
      // Behind the last hash, so that rows that cannot be changed are not returned again.
      const batch = await sql<StoredToken>(`tokens-of-key-${table}`, tokensOfKey(table), [after, end, batchSize]);
      if (batch.length === 0) return;
      const pairs = batch.flatMap((stored) => {
        const token = tryDecrypt(() => decryptToken(keys, table, stored));
        return token === undefined ? [] : [{ previous: stored.tokenHash, ...encryptToken(keys, table, token) }];
      });
      const lists = (['previous', 'tokenHash', 'tokenEncrypted'] as const).map((part) => pairs.map((pair) => pair[part]));
      count((await sql(`replace-tokens-${table}`, replaceTokens(table), lists)).length);
      after = Buffer.from((batch.at(-1) as StoredToken).tokenHash);
    }
  }

  async function reencryptSecrets(): Promise<void> {
    for (const { table, column, id, value } of await findSecrets(sql)) {
      if (keyIdOf(value) === first) continue;
      const context = { column: `${table}.${column}`, row: Buffer.from(id) };
      const secret = tryDecrypt(() => keys.decrypt(context, value));
      if (secret === undefined) continue;
      const text = `with ${silent} update ${table} set ${column} = $3::bytea from silent where id::text = $1 and ${column} = $2::bytea returning id`;
      count((await sql(`replace-${table}-${column}`, text, [id, value, keys.encrypt(context, secret)])).length);
    }
  }

  for (let pass = 0; pass < maxPasses && others.length > 0; pass += 1) {
    for (const table of tokenTables)
      for (const other of others) if (other.table === table) await reencryptTokens(table, other.id);
    await reencryptSecrets();
    others = await findOthers();
  }
  return { changed, remaining: others, problems: [...problems] };
}

const tokensOfKey = (table: TokenTable) => `
  select token_hash as "tokenHash", token_encrypted as "tokenEncrypted" from ${table}
  where token_hash > $1::bytea and token_hash < $2::bytea order by token_hash limit $3`;

/** Rows that a request has locked are skipped, so that neither waits for the other in a circle. */
const replaceTokens = (table: TokenTable) => `
  with ${silent}, change as (
    select * from unnest($1::bytea[], $2::bytea[], $3::bytea[]) as change (previous, hash, encrypted)
  ), locked as (
    select t.token_hash as previous from ${table} t join change on t.token_hash = change.previous for update of t skip locked
  )
  update ${table} t set token_hash = change.hash, token_encrypted = change.encrypted
  from change join locked using (previous) cross join silent where t.token_hash = change.previous
  returning t.token_hash`;

/** The number of the advisory lock that a process holds while it changes which keys there are. */
const keysLock = 727_075;

/** Runs `work` while no other process does so on this database. */
export async function withKeysLock<Result>({ pool }: Database, work: () => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    // Ends with its transaction, and so with the process.
    await client.query(`begin; select pg_advisory_xact_lock(${keysLock})`);
    return await work();
  } finally {
    await rollBack(client);
  }
}
