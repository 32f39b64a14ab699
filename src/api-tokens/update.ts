import { recordApiTokenUpdate } from '../audit-log/record.ts';
import type { Author } from '../audit-log/statements/insert.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import type { ApiToken, PrismaClient } from '../generated/prisma/client.ts';
import { apiTokenNameIssues, findApiToken, rateLimitIssues } from './api-tokens.ts';
import { lockApiToken } from './statements.ts';

/** New properties of an API token; what is undefined stays as it is. */
export interface ApiTokenChanges {
  /** 1 to 255 characters without control characters; null counts as omitted. */
  readonly name?: string | null | undefined;
  /** How many requests may be sent with it in 60 seconds: 1 to 1,000,000; `null` means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
  /** Whether it is accepted; null counts as omitted. */
  readonly enabled?: boolean | null | undefined;
}

/**
 * Changes properties of an API token, effective from the next request on every instance, and records what differs. Equal values
 * are neither written nor recorded.
 *
 * @throws InvalidInput.
 * @throws NotFound when no API token has this number, or it is revoked.
 */
export async function updateApiToken(
  db: Pick<PrismaClient, '$transaction'>,
  id: number,
  { name, rateLimit, enabled }: ApiTokenChanges,
  author: Author,
): Promise<ApiToken> {
  const issues = [...(name == null ? [] : apiTokenNameIssues(name)), ...rateLimitIssues(rateLimit)];
  if (issues.length > 0) throw new InvalidInput(issues);
  return db.$transaction(async (transaction) => {
    await lockApiToken(transaction, id);
    const before = await findApiToken(transaction, id);
    if (before.revokedAt) throw new NotFound(`The API token ${id} is revoked. Create a new one.`);
    const data = {
      name: name ?? before.name,
      rateLimit: rateLimit === undefined ? before.rateLimit : rateLimit,
      enabled: enabled ?? before.enabled,
    };
    const changed = (['name', 'rateLimit', 'enabled'] as const).filter((field) => data[field] !== before[field]);
    if (changed.length === 0) return before;
    const after = await transaction.apiToken.update({ where: { id }, data });
    const changes = Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
    await recordApiTokenUpdate(transaction, author, after, changes);
    return after;
  });
}
