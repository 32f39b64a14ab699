import { createHash } from 'node:crypto';
import { hashOf, tokenOf } from '../../encryption.ts';
import { type Caller, columns, type Group, pool, type StoredGroup } from './by-hand.ts';
import { secretOf } from './server.ts';

/** The same look-ups as by hand, batched: the keys of one turn of the event loop are sent in one named statement. */
function batch<Row extends object>(
  name: string,
  text: string,
  keyOf: (row: Row) => string,
  toParameter: (key: string) => unknown,
) {
  let waiting = new Map<string, Promise<Row | undefined>>();
  let next: Promise<Map<string, Row>> | undefined;

  async function load(): Promise<Map<string, Row>> {
    await new Promise((resolve) => setImmediate(resolve));
    const keys = [...waiting.keys()];
    waiting = new Map();
    next = undefined;
    const { rows } = await pool.query<Row>({ name, text, values: [keys.map(toParameter)] });
    return new Map(rows.map((row) => [keyOf(row), row]));
  }

  return (key: string): Promise<Row | undefined> => {
    const known = waiting.get(key);
    if (known) return known;
    next ??= load();
    const result = next.then((rows) => rows.get(key));
    waiting.set(key, result);
    return result;
  };
}

const fromHex = (text: string): Buffer => Buffer.from(text, 'hex');

const callerByHash = batch<Caller & { secret_hash: Buffer }>(
  'callers',
  `select secret_hash, environment_tag, scopes from api_token
   where secret_hash = any($1::bytea[]) and revoked_at is null and (expires_at is null or expires_at > now())`,
  ({ secret_hash }) => secret_hash.toString('hex'),
  fromHex,
);

const groupByHash = batch<StoredGroup>(
  'groups-by-token',
  `select ${columns} from user_group where token_hash = any($1::bytea[])`,
  ({ token_hash }) => token_hash.toString('hex'),
  fromHex,
);

/** An id may be taken once as `Customer` and once as `Testing`; each half is found by the index that has it. */
const customerGroupById = batch<StoredGroup>(
  'groups-by-id',
  `select ${columns} from user_group where provided_id = any($1::text[]) and environment_tag is distinct from 'Testing'`,
  ({ provided_id }) => provided_id,
  (id) => id,
);

const testingGroupById = batch<StoredGroup>(
  'testing-groups-by-id',
  `select ${columns} from user_group
   where provided_id = any($1::text[]) and environment_tag is distinct from 'Customer' and environment_tag = 'Testing'`,
  ({ provided_id }) => provided_id,
  (id) => id,
);

/** The holder of an API token that is neither revoked nor expired and has a scope. */
export async function findCaller(authorization: string | undefined, scope: string): Promise<Caller | undefined> {
  const caller = await callerByHash(createHash('sha256').update(secretOf(authorization)).digest('hex'));
  return caller?.scopes.includes(scope) ? caller : undefined;
}

/** The group with a token, in the caller's environment. */
export async function groupByToken(token: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const stored = await groupByHash(hashOf(token).toString('hex'));
  return stored?.environment_tag === environment_tag ? { ...stored, token } : undefined;
}

/** The group with a provided id, in the caller's environment. */
export async function groupByProvidedId(providedId: string, { environment_tag }: Caller): Promise<Group | undefined> {
  const stored = await (environment_tag === 'Testing' ? testingGroupById : customerGroupById)(providedId);
  return stored?.environment_tag === environment_tag ? { ...stored, token: tokenOf(stored) } : undefined;
}
