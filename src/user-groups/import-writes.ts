import { setTimeout as sleep } from 'node:timers/promises';
import { systemAuthor } from '../audit-log/statements/author.ts';
import type { Database, Sql } from '../database/client.ts';
import { isConflict, isUniqueViolation } from '../database/errors.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { encryptToken } from '../encryption/stored-token.ts';
import { issueToken } from '../tokens.ts';
import { changedValues, initialValues } from './attribute-values.ts';
import type { ImportLine, RejectedLine } from './import-lines.ts';
import { type OnExisting, type PlannedUpdate, type PlanOptions, planWrites } from './import-plan.ts';
import { insertGroups, type UserGroupDraft } from './sql.ts';
import { findTokenHolders, importSettings, removeRetired, updateImported } from './statements/import.ts';

/** Another transaction has changed what the batch was planned by, too late to plan it again: it is repeated. */
class ChangedMeanwhile extends Error {}

/** What became of lines. */
export interface WriteOutcome {
  readonly created: number;
  readonly updated: number;
  readonly tokensReplaced: number;
  readonly unchanged: number;
  readonly untaggedByDefault: number;
  readonly rejected: readonly RejectedLine[];
}

/**
 * How often a batch is tried, where each try may be a transaction that the database repeats once, and how often the lines of it
 * whose ids or tokens others take at the same time.
 */
const maxAttempts = 5;

/** The delay before another attempt, so that the other transaction can proceed, in milliseconds. */
const retryDelayMs = 50;

/** A unique index stops an update whose token another group has got since it was looked up. */
const mayRepeat = (error: unknown): boolean => error instanceof ChangedMeanwhile || isUniqueViolation(error) || isConflict(error);

/**
 * Writes lines in one transaction, by the rules that requests follow too.
 *
 * @param atEnd runs in the transaction, after everything else; not in a dry run.
 * @throws errors of the database; nothing is written then.
 */
export async function writeLines(
  db: Pick<Database, 'transaction'> & { readonly keys: KeyRing },
  lines: readonly ImportLine[],
  { onExisting, dryRun }: { readonly onExisting: OnExisting; readonly dryRun: boolean },
  atEnd: (sql: Sql, outcome: WriteOutcome) => Promise<void>,
): Promise<WriteOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction(async (sql) => {
        db.keys.refresh(); // they may be rotated during a long import
        await sql('import-settings', importSettings, []);
        // The first time, a new group whose token is taken is noticed when it cannot be inserted: that is rare.
        const options = { onExisting, dryRun, looksUpTokens: dryRun || attempt > 1 };
        const outcome = await write(sql, db.keys, lines, options);
        if (!dryRun) await atEnd(sql, outcome);
        return outcome;
      });
    } catch (error) {
      if (!mayRepeat(error)) throw error;
      if (attempt === maxAttempts) throw new Error('Other processes keep changing the same groups.', { cause: error });
      await sleep(retryDelayMs * attempt);
    }
  }
}

interface WriteOptions extends PlanOptions {
  readonly dryRun: boolean;
}

/** Validates and writes lines, and retries those whose ids or tokens were taken between the two. @throws ChangedMeanwhile. */
async function write(
  sql: Sql,
  keys: KeyRing,
  lines: readonly ImportLine[],
  { dryRun, ...options }: WriteOptions,
): Promise<WriteOutcome> {
  const rejections: RejectedLine[] = [];
  const outcome = { created: 0, updated: 0, tokensReplaced: 0, unchanged: 0, untaggedByDefault: 0, rejected: rejections };
  let rest = lines;
  for (let round = 1; rest.length > 0; round += 1) {
    if (round > maxAttempts) throw new ChangedMeanwhile();
    const looksUpTokens = options.looksUpTokens || round > 1;
    const { creations, updates, unchanged, rejected } = await planWrites(sql, keys, rest, { ...options, looksUpTokens });
    const created = dryRun ? creations : await create(sql, keys, creations);
    const updated = dryRun ? updates.length : await update(sql, keys, updates);
    outcome.created += created.length;
    outcome.untaggedByDefault += created.filter(({ isUntaggedByDefault }) => isUntaggedByDefault).length;
    outcome.updated += updated;
    outcome.tokensReplaced += updates.filter(({ isNewToken }) => isNewToken).length;
    outcome.unchanged += unchanged + updates.length - updated;
    outcome.rejected.push(...rejected);
    const isCreated = new Set(created);
    rest = creations.filter((line) => !isCreated.has(line));
  }
  return outcome;
}

/**
 * Inserts groups. Returns the lines whose groups were inserted: not those whose id or token is taken.
 *
 * @throws ChangedMeanwhile.
 */
async function create(sql: Sql, keys: KeyRing, lines: readonly ImportLine[]): Promise<readonly ImportLine[]> {
  if (lines.length === 0) return [];
  const drafts = lines.map((line): UserGroupDraft => {
    const { providedId, environmentTag, suspended, suspendedReason, given } = line;
    const stored = encryptToken(keys, 'user_group', line.token ?? issueToken('userGroup'));
    return {
      providedId,
      environmentTag,
      suspended,
      suspendedReason: suspendedReason ?? null,
      ...initialValues(given, line),
      ...stored,
    };
  });
  const groups = await insertGroups(sql, systemAuthor, drafts);
  const inserted = new Map(groups.map(({ tokenHash, teamId }) => [hexOf(tokenHash), teamId]));
  const created = lines.filter((_, index) => inserted.has(hexOf((drafts[index] as UserGroupDraft).tokenHash)));

  const given = created.flatMap(({ token }) => (token === undefined ? [] : keys.hashes(token)));
  if (given.length === 0) return created;
  await requireNoOtherHolder(sql, given, (tokenHash) => inserted.get(tokenHash));
  await removeRetired(sql, given, []);
  return created;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/**
 * Checks again, now that no other transaction can begin to use tokens that were written: one may have been retired, or be stored
 * under another key.
 *
 * @throws ChangedMeanwhile.
 */
async function requireNoOtherHolder(
  sql: Sql,
  hashes: readonly string[],
  ownerOf: (tokenHash: string) => number | undefined,
): Promise<void> {
  const holders = await findTokenHolders(sql, hashes);
  if (holders.some(({ tokenHash, teamId }) => ownerOf(tokenHash) !== teamId)) throw new ChangedMeanwhile();
}

/**
 * Returns how many groups were different before.
 *
 * @throws ChangedMeanwhile when one was deleted, or has another environment, or another group has got a token.
 */
async function update(sql: Sql, keys: KeyRing, updates: readonly PlannedUpdate[]): Promise<number> {
  if (updates.length === 0) return 0;
  const changes = updates.map(({ line, stored, hashes, isNewToken }) => {
    const { given, token = '', suspended, suspendedReason } = line;
    const replacement = isNewToken ? encryptToken(keys, 'user_group', token) : undefined;
    return {
      teamId: stored.teamId,
      environmentTag: stored.environmentTag,
      ...changedValues(given),
      suspended,
      suspendedReason,
      isNewToken,
      hashes,
      tokenHash: replacement?.tokenHash,
      tokenEncrypted: replacement?.tokenEncrypted,
    };
  });
  const { found, changed } = await updateImported(sql, changes);
  if (found < changes.length) throw new ChangedMeanwhile();
  const renewed = changes.filter(({ isNewToken }) => isNewToken);
  if (renewed.length > 0) {
    const owners = new Map(renewed.flatMap(({ hashes, teamId }) => hashes.map((hash) => [hash, teamId] as const)));
    await requireNoOtherHolder(sql, [...owners.keys()], (hash) => owners.get(hash));
    await removeRetired(
      sql,
      [...owners.keys()],
      renewed.map(({ teamId }) => teamId),
    );
  }
  return changed;
}
