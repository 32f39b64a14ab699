import { createHash } from 'node:crypto';
import pg from 'pg';
import { issueToken } from '../../../src/tokens.ts';
import { hashOf, storedToken, type TokenColumns, tokenOf } from '../../encryption.ts';
import { databaseUrl, poolSize, secretOf } from './server.ts';

// Hand-written statements: a pool, named statements, one index access each. Without the triggers: a service by hand has no audit
// log, and gives times itself.
const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize, options: '-c gateway.silent=on' });

/** The caller. */
export interface Caller {
  readonly environment_tag: 'Customer' | 'Testing';
  readonly scopes: readonly string[];
}

/** A stored group. */
export interface Group {
  readonly team_id: number;
  readonly provided_id: string;
  readonly name: string;
  readonly token: string;
  readonly environment_tag: 'Customer' | 'Testing';
  readonly properties: unknown;
}

/** What callers give a group. */
export interface Fields {
  readonly name?: string;
  readonly properties?: unknown;
  readonly mapping?: unknown;
}

type StoredGroup = Omit<Group, 'token'> & TokenColumns;

const columns = 'team_id, provided_id, name, token_hash, token_encrypted, environment_tag, properties';

/** The condition of a group with the provided id `$1`, for the index that has the groups of the environment. */
const ofCaller = {
  Customer: `provided_id = $1 and environment_tag = 'Customer' and environment_tag is distinct from 'Testing'`,
  Testing: `provided_id = $1 and environment_tag = 'Testing' and environment_tag is distinct from 'Customer'`,
};

async function first<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | undefined> {
  return (await pool.query<Row>({ name, text, values })).rows[0];
}

/** The holder of an API token that is neither revoked nor expired and has a scope. */
export async function findCaller(authorization: string | undefined, scope: string): Promise<Caller | undefined> {
  const hash = createHash('sha256').update(secretOf(authorization)).digest();
  const text = `select environment_tag, scopes from api_token
    where secret_hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`;
  const caller = await first<Caller>('caller', text, [hash]);
  return caller?.scopes.includes(scope) ? caller : undefined;
}

/** The group with a token, in the caller's environment. */
export async function groupByToken(token: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const text = `select ${columns} from user_group where token_hash = $1 and environment_tag = $2`;
  const stored = await first<StoredGroup>('group-by-token', text, [hashOf(token), environment_tag]);
  return stored && { ...stored, token };
}

/** The newest groups of the caller's environment before a cursor of the gateway, in the order of the index. */
export async function groupsBefore(cursor: string, count: number, { environment_tag }: Caller): Promise<Group[]> {
  const [, createdAt, teamId] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  const text = `select team_id, provided_id, name, token_hash, token_encrypted, environment_tag from user_group
    where environment_tag = $4 and (created_at, team_id) < ($2, $3)
    order by environment_tag desc, created_at desc, team_id desc limit $1`;
  const values = [count, new Date(createdAt), teamId, environment_tag];
  const { rows } = await pool.query<StoredGroup>({ name: 'page', text, values });
  return rows.map((stored) => ({ ...stored, token: tokenOf(stored) }));
}

async function groupByProvidedId(providedId: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const text = `select ${columns} from user_group where ${ofCaller[environment_tag]}`;
  const stored = await first<StoredGroup>(`group-${environment_tag}`, text, [providedId]);
  return stored && { ...stored, token: tokenOf(stored) };
}

/** The caller's group with a provided id, created if there is none; `undefined` if another environment's group has the id. */
export async function getOrCreate(
  caller: Caller,
  providedId: string,
  { name = providedId, properties, mapping }: Fields,
): Promise<{ group: Group; created: boolean } | undefined> {
  const existing = await groupByProvidedId(providedId, caller);
  if (existing) return { group: existing, created: false };
  const token = issueToken('userGroup');
  const { tokenHash, tokenEncrypted } = storedToken(token);
  const json = [properties == null ? null : JSON.stringify(properties), JSON.stringify(mapping ?? {})];
  const text = `insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`;
  const values = [providedId, caller.environment_tag, name, tokenHash, tokenEncrypted, ...json];
  const inserted = await first<StoredGroup>('insert-group', text, values);
  if (inserted) return { group: { ...inserted, token }, created: true };
  const winner = await groupByProvidedId(providedId, caller);
  return winner && { group: winner, created: false };
}

/** Replaces the current token with a new one; `undefined` when no group has it as its current token. */
export async function rotate({ environment_tag }: Caller, currentToken: string): Promise<Group | undefined> {
  const token = issueToken('userGroup');
  const { tokenHash, tokenEncrypted } = storedToken(token);
  const text = `update user_group set token_hash = $3, token_encrypted = $4, updated_at = now()
    where token_hash = $1 and environment_tag = $2 returning ${columns}`;
  const stored = await first<StoredGroup>('rotate', text, [hashOf(currentToken), environment_tag, tokenHash, tokenEncrypted]);
  return stored && { ...stored, token };
}

/** Changes the given fields of the caller's group with a provided id; `undefined` when there is none. */
export async function update(
  { environment_tag }: Caller,
  providedId: string,
  { name, mapping, properties }: Fields,
): Promise<Group | undefined> {
  const text = `update user_group set name = coalesce($2, name), mapping = coalesce($3, mapping),
      properties = case when $5 then $4 else properties end, updated_at = now()
    where ${ofCaller[environment_tag]} returning ${columns}`;
  const json = [mapping === undefined ? null : JSON.stringify(mapping), properties == null ? null : JSON.stringify(properties)];
  const values = [providedId, name ?? null, ...json, properties !== undefined];
  const stored = await first<StoredGroup>(`update-${environment_tag}`, text, values);
  return stored && { ...stored, token: tokenOf(stored) };
}
