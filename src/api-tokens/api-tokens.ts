import { recordApiTokenCreation, recordApiTokenRevocation, recordApiTokenUpdate, systemAuthor } from '../audit-log/record.ts';
import type { Author } from '../audit-log/statements/insert.ts';
import { retryOnConflict } from '../database/errors.ts';
import { type ClockReader, readClock } from '../database/timed-read.ts';
import type { Db } from '../db.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import type { ApiToken, PrismaClient, Prisma as PrismaTypes } from '../generated/prisma/client.ts';
import { hashSecret, issueToken } from '../tokens.ts';
import { assertNoIssues } from '../user-groups/rules.ts';
import { nullIssues } from '../user-groups/values.ts';
import { type ApiTokenRequest, apiTokenNameIssues, endOf, rateLimitIssues, requestIssues } from './rules.ts';
import { type ApiTokenRecord, lockApiToken, lockFirstApiToken, revokeUnrevoked } from './statements.ts';

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
type Transaction = Pick<PrismaTypes.TransactionClient, 'apiToken' | 'event'> & ClockReader;

/** Issues an API token, and records that. @param author who issues it; by default the gateway itself. @throws InvalidInput. */
export async function issueApiToken(
  db: Prisma,
  request: ApiTokenRequest,
  author: Author = systemAuthor,
): Promise<IssuedApiToken> {
  return db.$transaction((transaction) => createApiToken(transaction, request, author));
}

async function createApiToken(transaction: Transaction, request: ApiTokenRequest, author: Author): Promise<IssuedApiToken> {
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
  await recordApiTokenCreation(transaction, author, apiToken);
  return { secret, apiToken };
}

/** Every API token, revoked and expired ones included, oldest first. */
export function listApiTokens(db: Pick<Prisma, 'apiToken'>): Promise<ApiToken[]> {
  return db.apiToken.findMany({ orderBy: { id: 'asc' } });
}

/**
 * Revokes an API token, effective from the next request on every instance, and records that. Revoking it again changes nothing.
 *
 * @param author who revokes it; by default the gateway itself.
 * @throws NotFound when no API token has this number.
 */
export async function revokeApiToken(db: Prisma, id: number, author: Author = systemAuthor): Promise<ApiToken> {
  return db.$transaction(async (transaction) => {
    const isRevoked = await revokeUnrevoked(transaction, id);
    const apiToken = await findApiToken(transaction, id);
    if (isRevoked) await recordApiTokenRevocation(transaction, author, apiToken);
    return apiToken;
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
  assertNoIssues([
    ...nullIssues({ name, enabled }),
    ...(name == null ? [] : apiTokenNameIssues(name)),
    ...rateLimitIssues(rateLimit),
  ]);
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
  db: Pick<Db, 'apiToken'>,
  id: number,
  overlapSeconds: number,
  author: Author = systemAuthor,
): Promise<IssuedApiToken> {
  checkOverlap(overlapSeconds);
  const { secretHash, ...apiToken } = await findApiToken(db, id);
  if (apiToken.revokedAt) throw new NotFound(`The API token ${id} is revoked. Create a new one.`);
  const secret = issueToken('apiToken');
  const newHash = hashSecret(secret);
  const currentHash = Buffer.from(secretHash).toString('hex');
  const rotation = { id, currentHash, newHash, overlapSeconds, author };
  const changed = await db.apiToken.replaceSecret(rotation);
  if (!changed) throw await rotationFault(db, id, currentHash);
  return { secret, apiToken: { ...apiToken, ...changed, secretHash: bytesOf(newHash) } };
}

/** Why the secret of an API token could not be replaced. */
async function rotationFault(db: Pick<Prisma, 'apiToken'>, id: number, expectedHash: string): Promise<NotFound> {
  const { revokedAt, secretHash } = await findApiToken(db, id);
  if (revokedAt) return new NotFound(`The API token ${id} is revoked. Create a new one.`);
  // What else keeps its secret from being replaced, by the database's clock.
  const isUnchanged = Buffer.from(secretHash).toString('hex') === expectedHash;
  if (isUnchanged) return new NotFound(`The API token ${id} has expired. Create a new one.`);
  return new NotFound(`Another rotation replaced the secret of the API token ${id} at the same time. Nothing was changed.`);
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
    await db.$transaction(async (transaction) => {
      const createdAt = await readClock(transaction);
      const data = [{ name: 'bootstrap', scopes: ['admin'], createdAt, secretHash: bytesOf(hashSecret(secret)) }];
      const [created] = await transaction.apiToken.createManyAndReturn({ data, skipDuplicates: true });
      if (created) await recordApiTokenCreation(transaction, systemAuthor, created);
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
  return retryOnConflict(() =>
    db.$transaction(async (transaction) => {
      await lockFirstApiToken(transaction);
      if ((await transaction.apiToken.count()) > 0) return undefined;
      const request = {
        name: 'first token',
        environmentTag: 'Testing',
        scopes: ['groups:read', 'groups:write'],
        expiresAt: null,
      } as const;
      return createApiToken(transaction, request, systemAuthor);
    }, readCommitted),
  );
}

/** Regardless of the server's default, so that the count sees what was committed while the lock was awaited. */
const readCommitted = { isolationLevel: 'ReadCommitted' } as const;
