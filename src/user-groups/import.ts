import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, inTransaction } from '../app.ts';
import { recordEvent } from '../audit-log/statements/author.ts';
import type { Sql } from '../database/client.ts';
import { type ParameterColumn, toByteaArray, unnest } from '../database/columns.ts';
import { isConflict, isUniqueViolation } from '../database/errors.ts';
import { readClock } from '../database/timed-read.ts';
import { encryptToken } from '../encryption/stored-token.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { issueToken } from '../tokens.ts';
import { changedValues, initialValues } from './attribute-values.ts';
import { environmentName, type ImportLine, type RejectedLine } from './files.ts';
import { findGroupsByProvidedId, insertImported, type UserGroupDraft, updatedAttributes } from './sql.ts';
import { maxVersion } from './values.ts';

/** What happens to the lines of groups that exist. */
export const onExistingChoices = ['skip', 'update', 'fail'] as const;

/** The result of the lines so far; in a dry run, the expected one. */
export interface ImportSummary {
  readonly lines: number;
  readonly created: number;
  /** Existing groups that were changed; in a dry run, those that may be. */
  readonly updated: number;
  readonly unchanged: number;
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
  let summary: ImportSummary = { lines: 0, created: 0, updated: 0, unchanged: 0, rejected: 0, lastLine: 0 };
  const write = async ({ sql }: Context, batch: readonly ImportLine[]): Promise<Outcome> => {
    app.keys.refresh(); // they may be rotated during a long import
    await sql('import-settings', importSettings, []);
    const outcome = await writeLines(context, sql, batch, onExisting);
    const { created, updated } = outcome;
    const from = null;
    const changes = {
      import: { from, to: importId },
      startedAt: { from, to: startedAt.toISOString() },
      created: { from, to: created },
      updated: { from, to: updated },
    };
    if (created + updated > 0) await recordEvent(sql, caller.author, 'user_group.imported', changes);
    return outcome;
  };
  for await (const { accepted, rejected, lastLine } of inBatches(lines)) {
    if (signal.aborted) break;
    const outcome = dryRun
      ? expectedOutcome(await planLines(context, context.sql, accepted, onExisting))
      : await untilWritten(() => inTransaction(context, (transaction) => write(transaction, accepted)));
    rejected.push(...outcome.rejected);
    rejected.sort((a, b) => a.line - b.line);
    summary = {
      lines: summary.lines + outcome.created + outcome.updated + outcome.unchanged + rejected.length,
      created: summary.created + outcome.created,
      updated: summary.updated + outcome.updated,
      unchanged: summary.unchanged + outcome.unchanged,
      rejected: summary.rejected + rejected.length,
      lastLine,
    };
    await onBatch(summary, rejected);
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

interface Outcome {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: readonly RejectedLine[];
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

const expectedOutcome = ({ creations, updates, unchanged, rejected }: Plan): Outcome => ({
  created: creations.length,
  updated: updates.length,
  unchanged,
  rejected,
});

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

/** Plans and writes lines; once more for groups that others create at the same time. @throws ChangedMeanwhile. */
async function writeLines(
  context: Context,
  sql: Sql,
  lines: readonly ImportLine[],
  onExisting: ImportOptions['onExisting'],
): Promise<Outcome> {
  let outcome: Outcome = { created: 0, updated: 0, unchanged: 0, rejected: [] };
  let rest = lines;
  for (let round = 1; rest.length > 0; round += 1) {
    if (round > maxAttempts) throw new ChangedMeanwhile();
    const { creations, updates, unchanged, rejected } = await planLines(context, sql, rest, onExisting);
    const left = await createGroups(context, sql, creations);
    const updated = await updateGroups(context, sql, updates);
    outcome = {
      created: outcome.created + creations.length - left.length,
      updated: outcome.updated + updated,
      unchanged: outcome.unchanged + unchanged + updates.length - updated,
      rejected: [...outcome.rejected, ...rejected],
    };
    rest = left;
  }
  return outcome;
}

/** Returns the lines whose groups were not inserted, because others have taken an id or a token. */
async function createGroups(
  { app: { keys }, caller }: Context,
  sql: Sql,
  lines: readonly ImportLine[],
): Promise<readonly ImportLine[]> {
  if (lines.length === 0) return [];
  const drafts = lines.map(
    ({
      providedId,
      environmentTag,
      suspended,
      suspendedReason = null,
      given,
      token = issueToken('userGroup'),
    }): UserGroupDraft => ({
      providedId,
      environmentTag,
      suspended,
      suspendedReason,
      ...initialValues(given, { providedId }),
      ...encryptToken(keys, 'user_group', token),
    }),
  );
  const inserted = await insertImported(sql, caller.author, drafts);
  await removeRetired(
    sql,
    lines.flatMap(({ token }) => (token === undefined ? [] : keys.hashes(token))),
    [],
  );
  return inserted.size === lines.length
    ? []
    : lines.filter((_, index) => !inserted.has(Buffer.from((drafts[index] as UserGroupDraft).tokenHash).toString('hex')));
}

/** Returns how many groups were different before. @throws ChangedMeanwhile when one is gone, or has another environment. */
async function updateGroups({ app: { keys } }: Context, sql: Sql, updates: readonly PlannedUpdate[]): Promise<number> {
  if (updates.length === 0) return 0;
  const changes = updates.map(({ line, stored, isNewToken }) => ({
    line,
    stored,
    values: changedValues(line.given),
    token: isNewToken ? encryptToken(keys, 'user_group', line.token as string) : undefined,
  }));
  const values = [
    changes.map(({ stored }) => stored.teamId),
    changes.map(({ stored }) => stored.environmentTag),
    changes.map(({ token }) => token?.tokenHash ?? null),
    changes.map(({ token }) => token?.tokenEncrypted ?? null),
    changes.map(({ line }) => line.suspended),
    changes.map(({ line }) => line.suspendedReason ?? null),
    changes.map(({ line }) => line.suspendedReason !== undefined),
    ...updatedAttributes.flatMap(([name]) => [
      changes.map(({ values }) => values[name] !== undefined),
      changes.map(({ values }) => values[name] ?? null),
    ]),
  ];
  const [{ found, changed } = { found: 0, changed: 0 }] = await sql<{ found: number; changed: number }>(
    'import-update-groups',
    updateStatement,
    values,
  );
  if (found < updates.length) throw new ChangedMeanwhile();
  const renewed = updates.filter(({ isNewToken }) => isNewToken);
  await removeRetired(
    sql,
    renewed.flatMap(({ line }) => keys.hashes(line.token as string)),
    renewed.map(({ stored }) => stored.teamId),
  );
  return changed;
}

/** Removes retired tokens that are current again: those of these groups, and those whose grace period has ended. */
async function removeRetired(sql: Sql, hashes: readonly string[], teamIds: readonly number[]): Promise<void> {
  if (hashes.length > 0) await sql('import-delete-retired-tokens', deleteRetired, [toByteaArray(hashes), teamIds]);
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

const updateColumns: readonly ParameterColumn[] = [
  { sql: 'id', type: 'int' },
  { sql: 'environment', type: 'environment_tag' },
  { sql: 'new_hash', type: 'bytea' },
  { sql: 'new_encrypted', type: 'bytea' },
  { sql: 'suspends', type: 'bool' },
  { sql: 'new_reason', type: 'text' },
  { sql: 'has_reason', type: 'bool' },
  ...updatedAttributes.flatMap(([, { sql, type }]) => [
    { sql: `has_${sql}`, type: 'bool' },
    { sql: `new_${sql}`, type },
  ]),
];

/** An import suspends groups, and resumes none: a file may be older than the suspension. */
const setters = [
  'suspended = g.suspended or suspends',
  'suspended_reason = case when suspends and has_reason then new_reason else g.suspended_reason end',
  'token_hash = coalesce(new_hash, g.token_hash), token_encrypted = coalesce(new_encrypted, g.token_encrypted)',
  ...updatedAttributes.map(([, { sql }]) => `${sql} = case when has_${sql} then new_${sql} else g.${sql} end`),
];

const differences = [
  'new_hash is not null',
  'suspends and (not g.suspended or has_reason and g.suspended_reason is distinct from new_reason)',
  ...updatedAttributes.map(([, { sql }]) => `has_${sql} and g.${sql}::text is distinct from new_${sql}::text`),
];

/** Locked in the order of their numbers, to prevent deadlocks. */
const updateStatement = `
  with locked as (
    select draft.* from ${unnest(updateColumns, 'draft')}
    join user_group g on g.team_id = draft.id and g.environment_tag is not distinct from draft.environment
    order by g.team_id for update of g
  ), changed as (
    update user_group g set ${setters.join(', ')},
      updated_at = greatest(clock_timestamp(), g.updated_at), version = g.version % ${maxVersion} + 1
    from locked where g.team_id = locked.id and (${differences.join(' or ')})
    returning 1
  )
  select (select count(*) from locked)::int as found, (select count(*) from changed)::int as changed`;
