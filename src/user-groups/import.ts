import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, inTransaction } from '../app.ts';
import { recordEvent } from '../caller.ts';
import { readClock, type Sql, toByteaArray } from '../database/client.ts';
import { isConflict, isUniqueViolation } from '../database/errors.ts';
import { encryptToken } from '../encryption/keys.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { issueToken } from '../tokens.ts';
import { changedValues, initialValues, maxVersion, storedAttributes } from './attributes.ts';
import { environmentName, type ImportLine, type RejectedLine } from './files.ts';
import { findGroupsByProvidedId, insertGroups, writtenColumns } from './sql.ts';

/** What happens to the lines of groups that exist. */
export const onExistingChoices = ['skip', 'update', 'fail'] as const;

/** What happened to lines; in a dry run, what would. */
interface Counts {
  created: number;
  /** Existing groups that were changed; in a dry run, those that may be. */
  updated: number;
  unchanged: number;
}

/** The result of the lines so far. */
export interface ImportSummary extends Readonly<Counts> {
  readonly lines: number;
  readonly rejected: number;
  /** The number of the last line. */
  readonly lastLine: number;
}

interface ImportOptions {
  readonly onExisting: (typeof onExistingChoices)[number];
  readonly dryRun: boolean;
  /** Ends the import before the next batch. */
  readonly signal: AbortSignal;
  /** Receives the result so far after each batch, and the lines that the batch rejected. */
  readonly onBatch: (summary: ImportSummary, rejected: readonly RejectedLine[]) => Promise<void> | void;
}

/** The most lines of a transaction, and about how many characters they have. */
const maxBatchLines = 1_000;
const maxBatchLength = 1_048_576;

/**
 * Writes lines in batches of one transaction each, with an event for each that changed something. What was written stays if the
 * import ends early, and it is safe to run it again.
 */
export async function importUserGroups(
  context: Context,
  lines: AsyncIterable<ImportLine | RejectedLine>,
  { onExisting, dryRun, signal, onBatch }: ImportOptions,
): Promise<void> {
  const { app, caller } = context;
  const importId = randomUUID();
  const startedAt = await readClock(app.db);
  const summary = { lines: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, lastLine: 0 };
  const write = async ({ sql }: Context, batch: readonly ImportLine[]): Promise<Outcome> => {
    app.keys.refresh(); // they may be rotated during a long import
    await sql('import-settings', importSettings, []);
    const outcome = await writeLines(context, sql, batch, { onExisting, dryRun });
    const { created, updated } = outcome;
    const event = { import: importId, startedAt: startedAt.toISOString(), created, updated };
    const changes = Object.fromEntries(Object.entries(event).map(([name, to]) => [name, { from: null, to }]));
    if (created + updated > 0) await recordEvent(sql, caller.author, 'user_group.imported', changes);
    return outcome;
  };
  for await (const { accepted, rejected, lastLine } of inBatches(lines)) {
    if (signal.aborted) break;
    const outcome = dryRun
      ? await writeLines(context, context.sql, accepted, { onExisting, dryRun })
      : await untilWritten(() => inTransaction(context, (transaction) => write(transaction, accepted)));
    const rejections = [...rejected, ...outcome.rejected].sort((a, b) => a.line - b.line);
    for (const name of ['created', 'updated', 'unchanged'] as const) summary[name] += outcome[name];
    summary.lines += accepted.length + rejected.length;
    summary.rejected += rejections.length;
    summary.lastLine = lastLine;
    await onBatch({ ...summary }, rejections);
  }
  // Autovacuum does it later if this role may not, or it takes too long.
  if (!dryRun && summary.created > 0) await app.db.$executeRaw`analyze user_group`.catch(() => {});
}

interface Batch {
  readonly accepted: ImportLine[];
  readonly rejected: RejectedLine[];
  lastLine: number;
}

/** A batch ends before a line whose id or token it has already, so that the line finds the group of the earlier one. */
async function* inBatches(lines: AsyncIterable<ImportLine | RejectedLine>): AsyncGenerator<Batch> {
  let batch: Batch = { accepted: [], rejected: [], lastLine: 0 };
  let length = 0;
  const keys = new Set<string>();
  for await (const line of lines) {
    const lineKeys = 'reason' in line ? [] : keysOf(line);
    const count = batch.accepted.length + batch.rejected.length;
    if (count === maxBatchLines || length > maxBatchLength || lineKeys.some((key) => keys.has(key))) {
      yield batch;
      batch = { accepted: [], rejected: [], lastLine: 0 };
      length = 0;
      keys.clear();
    }
    if ('reason' in line) batch.rejected.push(line);
    else {
      batch.accepted.push(line);
      length += line.length;
    }
    for (const key of lineKeys) keys.add(key);
    batch.lastLine = line.line;
  }
  if (batch.lastLine > 0) yield batch;
}

/** What no two groups of a batch may share. An untagged group holds its id in both environments. */
function keysOf({ providedId, environmentTag, token }: ImportLine): string[] {
  const ids = (environmentTag === null ? ['Customer', 'Testing'] : [environmentTag]).map((tag) => `${tag} ${providedId}`);
  return token === undefined ? ids : [...ids, `token ${token}`];
}

/** Another transaction has changed a group of the batch meanwhile. */
class ChangedMeanwhile extends Error {}

const maxAttempts = 5;
const retryDelayMs = 50;

async function untilWritten(writeBatch: () => Promise<Outcome>): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeBatch();
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile || isUniqueViolation(error) || isConflict(error))) throw error;
      if (attempt === maxAttempts) throw new Error('Other processes keep changing the same groups. Import again later.');
      await sleep(retryDelayMs * attempt);
    }
  }
}

interface Outcome extends Counts {
  readonly rejected: RejectedLine[];
}

interface Plan {
  readonly creations: ImportLine[];
  readonly updates: PlannedUpdate[];
  unchanged: number;
  readonly rejected: RejectedLine[];
}

interface PlannedUpdate {
  readonly line: ImportLine;
  readonly stored: UserGroup;
  /** Whether the line has another token than the group. */
  readonly isNewToken: boolean;
}

/** Decides what to do with each line, by what is stored now. */
async function planLines(
  { app: { keys } }: Context,
  sql: Sql,
  lines: readonly ImportLine[],
  onExisting: ImportOptions['onExisting'],
): Promise<Plan> {
  const ids = [...new Set(lines.map(({ providedId }) => providedId))];
  const found = ids.length > 0 ? await findGroupsByProvidedId(sql, ids, false) : [];
  const groupsById = new Map(ids.map((id, index) => [id, found[index] ?? []]));
  const hashesOf = new Map(lines.map((line) => [line, line.token === undefined ? [] : keys.hashes(line.token)]));
  const holders = await findTokenHolders(sql, [...hashesOf.values()].flat());

  const plan: Plan = { creations: [], updates: [], unchanged: 0, rejected: [] };
  for (const line of lines) {
    const groups = groupsById.get(line.providedId) ?? [];
    const stored = groups.find(({ environmentTag }) => environmentTag === line.environmentTag);
    const hashes = hashesOf.get(line) ?? [];
    const reject = (reason: string) => void plan.rejected.push({ line: line.line, reason });
    if (stored && onExisting === 'skip') plan.unchanged += 1;
    else if (stored && onExisting === 'fail')
      reject(`user_group_id: a group with this id exists (${environmentName(line.environmentTag)}).`);
    else if (stored && line.nulls.length > 0)
      reject(`${line.nulls.join(', ')}: must not be null; omit it to keep the current value.`);
    else if (!stored && groups.some(({ environmentTag }) => environmentTag === null || line.environmentTag === null))
      reject(idIsHeld(line));
    else if (hashes.some((hash) => holders.get(hash)?.some((teamId) => teamId !== stored?.teamId)))
      reject('token: belongs to another user group.');
    else if (stored) {
      const isNewToken = hashes.length > 0 && !hashes.includes(Buffer.from(stored.tokenHash).toString('hex'));
      plan.updates.push({ line, stored, isNewToken });
    } else plan.creations.push(line);
  }
  return plan;
}

const idIsHeld = ({ environmentTag }: ImportLine): string =>
  environmentTag === null
    ? 'user_group_id: a Customer or Testing group has this id, which an untagged group cannot share.'
    : 'user_group_id: an untagged group has this id, and no other group can share it. Label that group as Customer or Testing first.';

/** The groups that tokens identify, now or until a grace period ends, by keyed hash in hexadecimal. */
async function findTokenHolders(sql: Sql, hashes: readonly string[]): Promise<Map<string, number[]>> {
  const holders = new Map<string, number[]>();
  if (hashes.length === 0) return holders;
  const rows = await sql<{ teamId: number; hash: string }>('import-token-holders', tokenHolders, [toByteaArray(hashes)]);
  for (const { hash, teamId } of rows) holders.set(hash, [...(holders.get(hash) ?? []), teamId]);
  return holders;
}

/** Plans lines, and writes them unless it is a dry run. @throws ChangedMeanwhile. */
async function writeLines(
  context: Context,
  sql: Sql,
  lines: readonly ImportLine[],
  { onExisting, dryRun }: Pick<ImportOptions, 'onExisting' | 'dryRun'>,
): Promise<Outcome> {
  const { keys } = context.app;
  const { creations, updates, unchanged, rejected } = await planLines(context, sql, lines, onExisting);
  if (dryRun) return { created: creations.length, updated: updates.length, unchanged, rejected };
  await createGroups(context, sql, creations);
  const updated = await updateGroups(context, sql, updates);

  const renewed = updates.filter(({ isNewToken }) => isNewToken);
  const tokens = [...creations, ...renewed.map(({ line }) => line)].flatMap(({ token = [] }) => token);
  const hashes = tokens.flatMap((token) => keys.hashes(token));
  const teamIds = renewed.map(({ stored }) => stored.teamId);
  if (hashes.length > 0) await sql('import-delete-retired-tokens', deleteRetired, [toByteaArray(hashes), teamIds]);
  return { created: creations.length, updated, unchanged: unchanged + updates.length - updated, rejected };
}

/** @throws ChangedMeanwhile when others have taken an id or a token. */
async function createGroups({ app: { keys }, caller }: Context, sql: Sql, lines: readonly ImportLine[]): Promise<void> {
  if (lines.length === 0) return;
  const drafts = lines.map(
    ({ providedId, environmentTag, suspended, suspendedReason = null, given, token = issueToken('userGroup') }) => ({
      providedId,
      environmentTag,
      suspended,
      suspendedReason,
      ...initialValues(given, { providedId }),
      ...encryptToken(keys, 'user_group', token),
    }),
  );
  if ((await insertGroups(sql, caller.author, drafts, true)).length < drafts.length) throw new ChangedMeanwhile();
}

/** Returns how many groups were different before. @throws ChangedMeanwhile when one is gone, or has another environment. */
async function updateGroups({ app: { keys } }: Context, sql: Sql, updates: readonly PlannedUpdate[]): Promise<number> {
  if (updates.length === 0) return 0;
  const changes = updates.map(({ line: { given, token = '', suspended, suspendedReason }, isNewToken }) =>
    toColumns({
      ...changedValues(given),
      // An import resumes none: a file may be older than the suspension.
      ...(suspended && { suspended, suspendedReason }),
      ...(isNewToken && encryptToken(keys, 'user_group', token)),
    }),
  );
  const stored = updates.map((update) => update.stored);
  const values = [stored.map(({ teamId }) => teamId), stored.map(({ environmentTag }) => environmentTag), changes];
  const [counts] = await sql<{ found: number; changed: number }>('import-update-groups', updateStatement, values);
  if (counts?.found !== updates.length) throw new ChangedMeanwhile();
  return counts.changed;
}

/** The columns of a group as a JSON object; undefined leaves one out. */
function toColumns(values: Readonly<Record<string, unknown>>): string {
  const members = storedAttributes.flatMap(([name, { sql, type }]) => {
    const value = values[name];
    if (value === undefined) return [];
    const json = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
    return `"${sql}":${type === 'json' ? value : JSON.stringify(json)}`;
  });
  return `{${members.join(',')}}`;
}

/**
 * A table that was empty a moment ago has no statistics yet, and would be read as a whole for each batch. The triggers stay
 * silent: a batch has one event.
 */
const importSettings = `
  select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '0', true), set_config('gateway.silent', 'on', true)`;

const tokenHolders = `
  select team_id as "teamId", encode(token_hash, 'hex') as hash from user_group where token_hash = any ($1::bytea[])
  union all
  select team_id, encode(token_hash, 'hex') from retired_token where token_hash = any ($1::bytea[]) and expires_at > now()`;

const deleteRetired = `
  delete from retired_token
  where token_hash = any ($1::bytea[]) and (expires_at <= now() or team_id = any ($2::int[]))`;

const columns = writtenColumns.filter((column) => column !== 'provided_id' && column !== 'environment_tag');

/** Locked in the order of their numbers, to prevent deadlocks. */
const updateStatement = `
  with locked as (
    select g as stored, json_populate_record(g, change) as written
    from unnest($1::int[], $2::environment_tag[], $3::json[]) as line (team_id, environment_tag, change)
    join user_group g on g.team_id = line.team_id and g.environment_tag is not distinct from line.environment_tag
    order by g.team_id for update of g
  ), changed as (
    update user_group g set (${columns.join(', ')}) = row(${columns.map((column) => `(written).${column}`).join(', ')}),
      updated_at = greatest(clock_timestamp(), g.updated_at), version = g.version % ${maxVersion} + 1
    from locked where g.team_id = (written).team_id and to_jsonb(stored) <> to_jsonb(written)
    returning 1
  )
  select (select count(*) from locked)::int as found, (select count(*) from changed)::int as changed`;
