import type { Sql } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { environmentName, type ImportLine, type RejectedLine } from './import-lines.ts';
import { findGroupsByProvidedId } from './sql.ts';
import { findTokenHolders } from './statements/import.ts';

/** What happens to a group that exists. */
export type OnExisting = 'skip' | 'update' | 'fail';

/** A line whose group exists, and may have to be changed. */
export interface PlannedUpdate {
  readonly line: ImportLine;
  readonly stored: UserGroup;
  /** The keyed hashes of the token that the line gives, one under each key; none without a token. */
  readonly hashes: readonly string[];
  /** Whether the line gives another token than the current one. */
  readonly isNewToken: boolean;
}

/** What to do with lines. */
export interface WritePlan {
  readonly creations: ImportLine[];
  readonly updates: PlannedUpdate[];
  unchanged: number;
  readonly rejected: RejectedLine[];
}

/** How lines are to be written. */
export interface PlanOptions {
  readonly onExisting: OnExisting;
  /** Whether the tokens of new groups are looked up before. */
  readonly looksUpTokens: boolean;
}

/** Decides what to do with each line, by what is stored now. */
export async function planWrites(
  sql: Sql,
  keys: KeyRing,
  lines: readonly ImportLine[],
  { onExisting, looksUpTokens }: PlanOptions,
): Promise<WritePlan> {
  const providedIds = [...new Set(lines.map(({ providedId }) => providedId))];
  const holders = await findGroupsByProvidedId(sql, providedIds, false);
  const byId = new Map(providedIds.map((id, index) => [id, holders[index]]));
  const storedOf = ({ providedId, environmentTag }: ImportLine) =>
    byId.get(providedId)?.find((group) => group.environmentTag === environmentTag);
  const hashesOf = new Map(
    lines.flatMap((line) => {
      const isNeeded = line.token !== undefined && (storedOf(line) ? onExisting === 'update' : looksUpTokens);
      return isNeeded ? [[line, keys.hashes(line.token)]] : [];
    }),
  );
  const hashes = [...hashesOf.values()].flat();
  const tokenHolders = hashes.length > 0 ? await findTokenHolders(sql, hashes) : [];
  /** One group, or two: a token may be current here and replaced there. */
  const byToken = new Map<string, number[]>();
  for (const { tokenHash, teamId } of tokenHolders) byToken.set(tokenHash, [...(byToken.get(tokenHash) ?? []), teamId]);

  const plan: WritePlan = { creations: [], updates: [], unchanged: 0, rejected: [] };
  for (const line of lines) {
    const groups = byId.get(line.providedId) ?? [];
    const stored = storedOf(line);
    const hashes = hashesOf.get(line) ?? [];
    const isTokenTaken = () => hashes.some((hash) => byToken.get(hash)?.some((teamId) => teamId !== stored?.teamId));
    const reject = (reason: string) => void plan.rejected.push({ line: line.line, reason, kind: reason });

    if (stored && onExisting === 'skip') plan.unchanged += 1;
    else if (stored && onExisting === 'fail')
      reject(`user_group_id: a group with this id exists (${environmentName(line.environmentTag)}).`);
    else if (stored && line.nulls.length > 0)
      reject(`${line.nulls.join(', ')}: must not be null; omit it to keep the current value.`);
    else if (!stored && groups.some(({ environmentTag }) => environmentTag === null || line.environmentTag === null))
      reject(heldBy(groups));
    else if (isTokenTaken()) reject('token: belongs to another user group.');
    else if (stored) {
      const isNewToken = hashes.length > 0 && !hashes.includes(Buffer.from(stored.tokenHash).toString('hex'));
      plan.updates.push({ line, stored, hashes, isNewToken });
    } else plan.creations.push(line);
  }
  return plan;
}

const heldBy = (groups: readonly UserGroup[]): string =>
  groups.some(({ environmentTag }) => environmentTag === null)
    ? 'user_group_id: an untagged group has this id, and no other group can share it. Label that group as Customer or Testing first.'
    : 'user_group_id: a Customer or Testing group has this id, which an untagged group cannot share.';
