import type { Database } from '../client.ts';
import { countRecordsByKey, findKeyIdsOfRecords } from './idempotency-records.ts';
import { countSigningKeysByKey } from './signing-keys.ts';
import { countTokensByKey, findKeyIdsOfTokens, type TokenTable } from './stored-tokens.ts';

/** A table with values that an encryption key encrypts. */
export type EncryptedTable = TokenTable | 'signing_key' | 'idempotency_record';

/** How many rows of a table use a key. */
export interface KeyUse {
  readonly table: EncryptedTable;
  /** The id of the key, in hexadecimal. */
  readonly id: string;
  readonly rows: number;
}

/**
 * The ids of the encryption keys that rows use, in hexadecimal; those of tables that a migration has not created or converted yet
 * are left out. Takes a few index accesses for each key and table, however many rows there are.
 */
export async function findKeyIdsInUse(database: Pick<Database, 'query'>): Promise<string[]> {
  // Each by itself: a database without signing keys may have encrypted tokens.
  const ofTokens = await ifDefined(() => findKeyIdsOfTokens(database));
  const ofSigningKeys = await ifDefined(async () => (await countSigningKeysByKey(database)).map(({ id }) => id));
  const ofRecords = await ifDefined(() => findKeyIdsOfRecords(database));
  return [...new Set([...ofTokens, ...ofSigningKeys, ...ofRecords])];
}

/** The id of the encryption key that the newest user group uses, in hexadecimal; none without groups. Takes one index access. */
export async function findNewestKeyId({ query }: Pick<Database, 'query'>): Promise<string | undefined> {
  const [row] = await query('newest-key-id', newestKeyId, []);
  return row?.[0] ?? undefined;
}

const newestKeyId = `
  select encode(substr(token_hash, 1, 4), 'hex') from user_group order by team_id desc limit 1`;

/** How many rows of each table use each encryption key. Reads a whole index of each table. */
export async function countRowsByKey(database: Pick<Database, 'query'>): Promise<KeyUse[]> {
  const signingKeys = await countSigningKeysByKey(database);
  const records = await countRecordsByKey(database);
  return [
    ...(await countTokensByKey(database)),
    ...signingKeys.map((use) => ({ table: 'signing_key' as const, ...use })),
    ...records.map((use) => ({ table: 'idempotency_record' as const, ...use })),
  ];
}

/** The ids that a statement finds; none if a table or a column does not exist. */
async function ifDefined(find: () => Promise<string[]>): Promise<string[]> {
  try {
    return await find();
  } catch (error) {
    if (isUndefined(error)) return [];
    throw error;
  }
}

const isUndefined = (error: unknown): boolean => ['42P01', '42703'].includes((error as { code?: string }).code ?? '');
