import { type Author, changeAs, systemAuthor } from '../audit-log/statements/author.ts';
import { type ClockReader, readClock } from '../database/timed-read.ts';
import type { Db } from '../db.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import type { ApiToken, PrismaClient, Prisma as PrismaTypes } from '../generated/prisma/client.ts';
import { hashSecret, issueToken } from '../tokens.ts';
import { assertNoIssues } from '../user-groups/rules.ts';
import { nullIssues } from '../user-groups/values.ts';
import { type ApiTokenRequest, apiTokenNameIssues, endOf, rateLimitIssues, requestIssues } from './rules.ts';
import { type ApiTokenRecord, lockApiToken, lockFirstApiToken } from './statements.ts';

/** The longest that a replaced secret stays accepted, in seconds: a week. */
export const maxOverlapSeconds = 604_800;

/** Checks how long a replaced secret stays valid: 0 to {@link maxOverlapSeconds}, whole. @throws InvalidInput. */
export function checkOverlap(overlapSeconds: number): void {
  if (Number.isInteger(overlapSeconds) && overlapSeconds >= 0 && overlapSeconds <= maxOverlapSeconds) return;
  throw new InvalidInput([{ path: ['overlapSeconds'], message: `must be a whole number from 0 to ${maxOverlapSeconds}.` }]);
}

/** An API token with its secret, which is nowhere else: only its hash is stored. */
export interface IssuedApiToken {
  readonly secret: string;
  readonly apiToken: ApiToken;
}

type Prisma = Pick<PrismaClient, 'apiToken' | '$transaction'> & ClockReader;
type Transaction = Pick<PrismaTypes.TransactionClient, 'apiToken'> & ClockReader;

/** Issues an API token. @param author who issues it; by default the gateway itself. @throws InvalidInput. */
export async function issueApiToken(
  db: Prisma,
  request: ApiTokenRequest,
  author: Author = systemAuthor,
): Promise<IssuedApiToken> {
  return changeAs(db, author, (transaction) => createApiToken(transaction, request));
}

async function createApiToken(transaction: Transaction, request: ApiTokenRequest): Promise<IssuedApiToken> {
  const { name, environmentTag, scopes, rateLimit = null } = request;
  // Not the column's default, which Prisma takes from the clock of the process.
  const createdAt = await readClock(transaction);
  assertNoIssues(requestIssues(request, createdAt));
  const secret = issueToken('apiToken');
  const data = {
    name,
    environmentTag,
    scopes: [...new Set(scopes)],
    createdAt,
    expiresAt: endOf(request, createdAt),
    rateLimit,
    secretHash: bytesOf(hashSecret(secret)),
  };
  const apiToken = await transaction.apiToken.create({ data });
  return { secret, apiToken };
}

/** Every API token, revoked and expired ones included, oldest first. */
export function listApiTokens(db: Pick<Prisma, 'apiToken'>): Promise<ApiToken[]> {
  return db.apiToken.findMany({ orderBy: { id: 'asc' } });
}

/**
 * Revokes an API token, effective from the next request on every instance. Revoking it again changes nothing.
 *
 * @param author who revokes it; by default the gateway itself.
 * @throws NotFound when no API token has this number.
 */
export async function revokeApiToken(db: Prisma, id: number, author: Author = systemAuthor): Promise<ApiToken> {
  return changeAs(db, author, async (transaction) => {
    const revokedAt = await readClock(transaction);
    await transaction.apiToken.updateMany({ where: { id, revokedAt: null }, data: { revokedAt } });
    return findApiToken(transaction, id);
  });
}

/** New properties of an API token; what is undefined stays as it is. */
export interface ApiTokenChanges {
  /** 1 to 255 characters without control characters; not null. */
  readonly name?: string | null | undefined;
  /** How many requests may be sent with it in 60 seconds: 1 to 1,000,000; `null` means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
  /** Whether it is accepted; not null. */
  readonly enabled?: boolean | null | undefined;
}

/**
 * Changes properties of an API token, effective from the next request on every instance.
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
  assertNoIssues([
    ...nullIssues({ name, enabled }),
    ...(name == null ? [] : apiTokenNameIssues(name)),
    ...rateLimitIssues(rateLimit),
  ]);
  const data = {
    ...(name != null && { name }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(enabled != null && { enabled }),
  };
  return changeAs(db, author, async (transaction) => {
    const [changed] = await transaction.apiToken.updateManyAndReturn({ where: { id, revokedAt: null }, data });
    if (changed) return changed;
    await findApiToken(transaction, id);
    throw isRevoked(id);
  });
}

const isRevoked = (id: number): NotFound => new NotFound(`The API token ${id} is revoked. Create a new one.`);

/**
 * Replaces the secret of an API token; all else about it stays. Of rotations that replace the same secret at once exactly one
 * succeeds.
 *
 * @param overlapSeconds how long the replaced secret stays accepted, 0 to 604800. With 0 it is rejected from the next request on,
 *   on every instance, and so is every secret that was replaced earlier; otherwise these keep their ends.
 * @param author who replaces it; by default the gateway itself.
 * @throws InvalidInput.
 * @throws NotFound when no API token has this number, when it is revoked or expired, and for the rotations that do not succeed.
 */
export async function rotateApiToken(
  db: Prisma,
  id: number,
  overlapSeconds: number,
  author: Author = systemAuthor,
): Promise<IssuedApiToken> {
  checkOverlap(overlapSeconds);
  const replaced = await findApiToken(db, id);
  const secret = issueToken('apiToken');
  const apiToken = await changeAs(db, author, async (transaction) => {
    await lockApiToken(transaction, id);
    const { secretHash, expiresAt, revokedAt } = await findApiToken(transaction, id);
    const now = await readClock(transaction);
    if (revokedAt) throw isRevoked(id);
    if (expiresAt && expiresAt <= now) throw new NotFound(`The API token ${id} has expired. Create a new one.`);
    if (Buffer.compare(secretHash, replaced.secretHash) !== 0)
      throw new NotFound(`Another rotation replaced the secret of the API token ${id} at the same time. Nothing was changed.`);
    if (overlapSeconds === 0)
      await transaction.retiredSecret.updateMany({ where: { apiTokenId: id, expiresAt: { gt: now } }, data: { expiresAt: now } });
    const end = new Date(now.getTime() + overlapSeconds * 1_000);
    await transaction.retiredSecret.create({ data: { secretHash, apiTokenId: id, expiresAt: end } });
    return transaction.apiToken.update({ where: { id }, data: { secretHash: bytesOf(hashSecret(secret)) } });
  });
  return { secret, apiToken };
}

/** The API token with this number. @throws NotFound. */
async function findApiToken(db: Pick<Prisma, 'apiToken'>, id: number): Promise<ApiToken> {
  const apiToken = await db.apiToken.findUnique({ where: { id } });
  if (!apiToken) throw new NotFound(`No API token has the number ${id}. \`token list\` lists all of them.`);
  return apiToken;
}

const bytesOf = (hexadecimal: string): Uint8Array<ArrayBuffer> => Buffer.from(hexadecimal, 'hex');

/**
 * Stores a secret chosen by the operator as an untagged API token with scope `admin`. Changes nothing if it is stored already,
 * also if it was revoked or replaced since, and returns that API token.
 */
export async function acceptBootstrapToken(db: Db, secret: string): Promise<ApiTokenRecord | undefined> {
  const found = await db.apiToken.findBySecretHash(hashSecret(secret));
  if (!found)
    await changeAs(db, systemAuthor, async (transaction) => {
      const createdAt = await readClock(transaction);
      const data = [{ name: 'bootstrap', scopes: ['admin'], createdAt, secretHash: bytesOf(hashSecret(secret)) }];
      await transaction.apiToken.createMany({ data, skipDuplicates: true });
    });
  return found;
}

/**
 * Issues the first API token, for the Testing environment, with the scopes `groups:read` and `groups:write`; nothing if there
 * is one already. Of instances that start concurrently on one database, exactly one issues it.
 */
export async function issueFirstApiToken(db: Db): Promise<IssuedApiToken | undefined> {
  // Checked first without Prisma, whose engine takes 60 MB of memory from its first use on.
  if (await db.apiToken.hasAny()) return undefined;
  return changeAs(db, systemAuthor, async (transaction) => {
    await lockFirstApiToken(transaction);
    if ((await transaction.apiToken.count()) > 0) return undefined;
    const request = {
      name: 'first token',
      environmentTag: 'Testing',
      scopes: ['groups:read', 'groups:write'],
      expiresAt: null,
    } as const;
    return createApiToken(transaction, request);
  });
}
