import { createHash } from 'node:crypto';
import pg from 'pg';
import { issueToken } from '../../../src/tokens.ts';
import { hashOf, storedToken, type TokenColumns, tokenOf } from '../../encryption.ts';
import { databaseUrl, poolSize, secretOf } from './server.ts';

/** Hand-written look-ups: a pool, named statements, one index access each. */
/** Without the triggers: a service by hand has no audit log, and gives versions and times itself. */
export const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize, options: '-c gateway.silent=on' });

/** The caller. */
export interface Caller {
  readonly environment_tag: 'Customer' | 'Testing' | null;
  readonly scopes: readonly string[];
}

/** A stored group. */
export interface Group {
  readonly team_id: number;
  readonly provided_id: string;
  readonly name: string;
  readonly token: string;
  readonly environment_tag: 'Customer' | 'Testing' | null;
  readonly properties: unknown;
}

/** A group as it is stored. */
export type StoredGroup = Omit<Group, 'token'> & TokenColumns;

type ListedGroup = Omit<StoredGroup, 'properties'>;

/** The columns of {@link StoredGroup}. */
export const columns = 'team_id, provided_id, name, token_hash, token_encrypted, environment_tag, properties';

async function first<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | undefined> {
  return (await pool.query<Row>({ name, text, values })).rows[0];
}

/** The holder of an API token that is neither revoked nor expired and has a scope. */
export async function findCaller(authorization: string | undefined, scope: string): Promise<Caller | undefined> {
  const hash = createHash('sha256').update(secretOf(authorization)).digest();
  const caller = await first<Caller>('caller', callerByHash, [hash]);
  return caller?.scopes.includes(scope) ? caller : undefined;
}

const callerByHash = `
  select environment_tag, scopes from api_token
  where secret_hash = $1 and revoked_at is null and (expires_at is null or expires_at > now())`;

/** The group with a token, in the caller's environment. */
export async function groupByToken(token: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const text = `select ${columns} from user_group where token_hash = $1 and environment_tag is not distinct from $2`;
  const stored = await first<StoredGroup>('group-by-token', text, [hashOf(token), environment_tag]);
  return stored && { ...stored, token };
}

type Listed = Omit<Group, 'properties'>;

/** The newest groups of the caller's environment. */
export const newestGroups = (count: number, caller: Caller): Promise<Listed[]> => list('newest', '', [count], caller);

/** The newest of those before a cursor of the gateway. */
export function groupsBefore(cursor: string, count: number, caller: Caller): Promise<Listed[]> {
  const [, createdAt, teamId] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  return list('page', 'and (created_at, team_id) < ($2, $3)', [count, new Date(createdAt), teamId], caller);
}

async function list(name: string, bound: string, values: readonly unknown[], { environment_tag }: Caller): Promise<Listed[]> {
  const { rows } = await (environment_tag
    ? pool.query<ListedGroup>({ name, text: page(`= $${values.length + 1}`, bound), values: [...values, environment_tag] })
    : pool.query<ListedGroup>({ name: `${name}-untagged`, text: page('is null', bound), values: [...values] }));
  return rows.map((stored) => ({ ...stored, token: tokenOf(stored) }));
}

/** The columns of which the response consists, in the order of the index on environment, time and number. */
const page = (environment: string, bound: string) => `
  select team_id, provided_id, name, token_hash, token_encrypted, environment_tag from user_group
  where environment_tag ${environment} ${bound} order by environment_tag desc, created_at desc, team_id desc limit $1`;

/** The group with a provided id, in the caller's environment: by the index that has that environment's groups. */
async function groupByProvidedId(providedId: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const stored = await (environment_tag === 'Testing'
    ? first<StoredGroup>('testing-group', testingGroup, [providedId])
    : first<StoredGroup>('other-group', otherGroup, [providedId, environment_tag]));
  return stored && { ...stored, token: tokenOf(stored) };
}

const testingGroup = `
  select ${columns} from user_group
  where provided_id = $1 and environment_tag is distinct from 'Customer' and environment_tag = 'Testing'`;

const otherGroup = `
  select ${columns} from user_group
  where provided_id = $1 and environment_tag is distinct from 'Testing' and environment_tag is not distinct from $2`;

/**
 * The caller's group with a provided id, created if there is none; `undefined` when a group of another environment has the id.
 */
export async function getOrCreate(
  caller: Caller,
  providedId: string,
  fields: { name?: string; properties?: unknown; mapping?: unknown },
): Promise<{ group: Group; created: boolean } | undefined> {
  const existing = await groupByProvidedId(providedId, caller);
  if (existing) return { group: existing, created: false };
  const { name = providedId, properties, mapping } = fields;
  const json = [properties == null ? null : JSON.stringify(properties), JSON.stringify(mapping ?? {})];
  const token = issueToken('userGroup');
  const { tokenHash, tokenEncrypted } = storedToken(token);
  const values = [providedId, caller.environment_tag, name, tokenHash, tokenEncrypted, ...json];
  const inserted = await first<StoredGroup>('insert-group', insertGroup, values);
  if (inserted) return { group: { ...inserted, token }, created: true };
  const winner = await groupByProvidedId(providedId, caller);
  return winner && { group: winner, created: false };
}

const insertGroup = `
  insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict do nothing returning ${columns}`;

/** Replaces the current token with a new one; `undefined` when no group has it as its current token. */
export async function rotate(caller: Caller, currentToken: string): Promise<Group | undefined> {
  const token = issueToken('userGroup');
  const { tokenHash, tokenEncrypted } = storedToken(token);
  const values = [hashOf(currentToken), caller.environment_tag, tokenHash, tokenEncrypted];
  const stored = await first<StoredGroup>('rotate', rotateToken, values);
  return stored && { ...stored, token };
}

const rotateToken = `
  update user_group set token_hash = $3, token_encrypted = $4, updated_at = now()
  where token_hash = $1 and environment_tag is not distinct from $2 returning ${columns}`;

/** Changes the fields that are given of the caller's group with a provided id; nothing when there is no such group. */
export async function update(
  caller: Caller,
  providedId: string,
  { name, mapping, properties }: { name?: string; properties?: unknown; mapping?: unknown },
): Promise<Group | undefined> {
  const json = [mapping === undefined ? null : JSON.stringify(mapping), properties == null ? null : JSON.stringify(properties)];
  const values = [providedId, name ?? null, ...json, properties !== undefined];
  const stored = await (caller.environment_tag === 'Testing'
    ? first<StoredGroup>('update-testing', updateTesting, values)
    : first<StoredGroup>('update-other', updateOther, [...values, caller.environment_tag]));
  return stored && { ...stored, token: tokenOf(stored) };
}

const changes = `
  name = coalesce($2, name), mapping = coalesce($3, mapping),
  properties = case when $5 then $4 else properties end, updated_at = now()`;

const updateTesting = `
  update user_group set ${changes}
  where provided_id = $1 and environment_tag is distinct from 'Customer' and environment_tag = 'Testing' returning ${columns}`;

const updateOther = `
  update user_group set ${changes}
  where provided_id = $1 and environment_tag is distinct from 'Testing' and environment_tag is not distinct from $6
  returning ${columns}`;
