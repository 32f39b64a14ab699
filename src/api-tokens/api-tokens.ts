import { type Context, inTransaction, readInTurn } from '../app.ts';
import { readClock } from '../database/client.ts';
import { byId, type CountedPage, type ListOrder, type PageInput, pageOf, sectionOf } from '../database/list.ts';
import { InvalidInput, type Issue, NotFound } from '../errors.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { assertNoIssues, newTextIssues, nullIssues, timeIssues } from '../input.ts';
import { type Scope, scopeNames } from '../scopes.ts';
import { hashSecret, issueToken } from '../tokens.ts';
import type { ApiTokenRecord } from './sql.ts';

/** The longest that a replaced secret stays accepted, in seconds: a week. */
export const maxOverlapSeconds = 604_800;

/** Checks how long a replaced secret stays valid: 0 to {@link maxOverlapSeconds}, whole. @throws InvalidInput. */
export function checkOverlap(overlapSeconds: number): void {
  if (Number.isInteger(overlapSeconds) && overlapSeconds >= 0 && overlapSeconds <= maxOverlapSeconds) return;
  throw new InvalidInput([{ path: ['overlapSeconds'], message: `must be a whole number from 0 to ${maxOverlapSeconds}.` }]);
}

/** The most requests in 60 seconds that an API token may be limited to. */
export const maxApiTokenRateLimit = 1_000_000;

/** The issues of the name of an API token to issue. */
const apiTokenNameIssues = (name: string): Issue[] => newTextIssues(['name'], name);

/** The issues of the rate limit of an API token; null and undefined have none. */
function rateLimitIssues(rateLimit: number | null | undefined): Issue[] {
  if (rateLimit == null || (Number.isInteger(rateLimit) && rateLimit >= 1 && rateLimit <= maxApiTokenRateLimit)) return [];
  return [{ path: ['rateLimit'], message: `must be a whole number from 1 to ${maxApiTokenRateLimit}.` }];
}

/** The properties of an API token to issue. */
export interface ApiTokenRequest {
  /** What the token is for: 1 to 255 characters. */
  readonly name: string;
  /** The environment it has access to; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
  /** At least one. */
  readonly scopes: readonly Scope[];
  /** When it expires, in the future, by the database's clock; `null` means never. */
  readonly expiresAt: Date | null;
  /** After how many seconds it expires, from 1 on, instead of `expiresAt`. */
  readonly expiresInSeconds?: number | null | undefined;
  /** How many requests may be sent with it in 60 seconds: 1 to 1,000,000; `null`, the default, means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
}

function* requestIssues({ name, scopes, expiresAt, expiresInSeconds, rateLimit }: ApiTokenRequest, now: Date): Generator<Issue> {
  yield* apiTokenNameIssues(name);
  if (scopes.length === 0) yield { path: ['scopes'], message: `must contain at least one of ${scopeNames.join(', ')}.` };
  const end = endOf({ expiresAt, expiresInSeconds }, now);
  const path = [expiresInSeconds == null ? 'expiresAt' : 'expiresInSeconds'];
  if (expiresInSeconds != null && expiresAt) yield { path, message: 'must not be given together with expiresAt.' };
  else if (expiresInSeconds != null && expiresInSeconds < 1) yield { path, message: 'must be at least 1.' };
  else if (end && end <= now) yield { path, message: 'must be in the future.' };
  else yield* timeIssues(path, end);
  yield* rateLimitIssues(rateLimit);
}

const endOf = ({ expiresAt, expiresInSeconds }: Pick<ApiTokenRequest, 'expiresAt' | 'expiresInSeconds'>, now: Date) =>
  expiresInSeconds == null ? expiresAt : new Date(now.getTime() + expiresInSeconds * 1_000);

/** An API token with its secret, which is nowhere else: only its hash is stored. */
export interface IssuedApiToken {
  readonly secret: string;
  readonly apiToken: ApiToken;
}

/**
 * Issues an API token.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput.
 */
export function createApiToken(context: Context, request: ApiTokenRequest): Promise<IssuedApiToken> {
  context.caller.require('admin');
  return inTransaction(context, async ({ db }) => {
    const createdAt = await readClock(db); // the column's default is from the clock of the process
    assertNoIssues(requestIssues(request, createdAt));
    const secret = issueToken('apiToken');
    const { name, environmentTag, scopes, rateLimit = null } = request;
    const expiresAt = endOf(request, createdAt);
    const data = { name, environmentTag, scopes: [...new Set(scopes)], createdAt, expiresAt, rateLimit };
    return { secret, apiToken: await db.apiToken.create({ data: { ...data, secretHash: secretHashOf(secret) } }) };
  });
}

const secretHashOf = (secret: string): Uint8Array<ArrayBuffer> => Buffer.from(hashSecret(secret), 'hex');

/**
 * Revokes an API token, effective from the next request on every instance. Revoking it again changes nothing.
 *
 * @throws Forbidden without `admin`.
 * @throws NotFound when no API token has this number.
 */
export function revokeApiToken(context: Context, id: number): Promise<ApiToken> {
  context.caller.require('admin');
  return inTransaction(context, async (inner) => {
    const revokedAt = await readClock(inner.db);
    await inner.db.apiToken.updateMany({ where: { id, revokedAt: null }, data: { revokedAt } });
    return requireApiToken(inner, id);
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
 * @throws Forbidden without `admin`.
 * @throws InvalidInput.
 * @throws NotFound when no API token has this number, or it is revoked.
 */
export async function updateApiToken(context: Context, id: number, changes: ApiTokenChanges): Promise<ApiToken> {
  context.caller.require('admin');
  const { name, rateLimit, enabled } = changes;
  const nameIssues = name == null ? [] : apiTokenNameIssues(name);
  assertNoIssues([...nullIssues({ name, enabled }), ...nameIssues, ...rateLimitIssues(rateLimit)]);
  const data = {
    ...(name != null && { name }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(enabled != null && { enabled }),
  };
  return inTransaction(context, async (inner) => {
    const [changed] = await inner.db.apiToken.updateManyAndReturn({ where: { id, revokedAt: null }, data });
    if (changed) return changed;
    await requireApiToken(inner, id);
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
 * @throws Forbidden without `admin`.
 * @throws InvalidInput.
 * @throws NotFound when no API token has this number, when it is revoked or expired, and for the rotations that do not succeed.
 */
export async function rotateApiToken(context: Context, id: number, overlapSeconds: number): Promise<IssuedApiToken> {
  context.caller.require('admin');
  checkOverlap(overlapSeconds);
  const replaced = await requireApiToken(context, id);
  const secret = issueToken('apiToken');
  return inTransaction(context, async (inner) => {
    const { db } = inner;
    await db.$queryRaw`select id from api_token where id = ${id}::int for update`;
    const { secretHash, expiresAt, revokedAt } = await requireApiToken(inner, id);
    const now = await readClock(db);
    if (revokedAt) throw isRevoked(id);
    if (expiresAt && expiresAt <= now) throw new NotFound(`The API token ${id} has expired. Create a new one.`);
    if (Buffer.compare(secretHash, replaced.secretHash) !== 0)
      throw new NotFound(`Another rotation replaced the secret of the API token ${id} at the same time. Nothing was changed.`);
    if (overlapSeconds === 0)
      await db.retiredSecret.updateMany({ where: { apiTokenId: id, expiresAt: { gt: now } }, data: { expiresAt: now } });
    const end = new Date(now.getTime() + overlapSeconds * 1_000);
    await db.retiredSecret.create({ data: { secretHash, apiTokenId: id, expiresAt: end } });
    return { secret, apiToken: await db.apiToken.update({ where: { id }, data: { secretHash: secretHashOf(secret) } }) };
  });
}

async function requireApiToken({ db }: Context, id: number): Promise<ApiToken> {
  const apiToken = await db.apiToken.findUnique({ where: { id } });
  if (!apiToken) throw new NotFound(`No API token has the number ${id}. \`token list\` lists all of them.`);
  return apiToken;
}

/**
 * The API token with this number, of any environment; undefined when there is none.
 *
 * @throws Forbidden without `admin`.
 */
export function findApiToken({ caller, reads }: Context, number: number): Promise<ApiTokenRecord | undefined> {
  caller.require('admin');
  return reads.apiToken(number);
}

/** Which API tokens are listed. */
export interface ApiTokenPageInput extends PageInput {
  /** Whether revoked ones are listed too; by default they are not. */
  readonly includeRevoked?: boolean | null | undefined;
}

const newestFirst: ListOrder = { name: 'ApiToken', direction: 'desc', by: [{ field: 'id', sql: 'id', type: 'int' }] };

/**
 * A page of the API tokens of every environment, the newest first, expired ones included. A cursor is the number of a token, so
 * that tokens that are created or revoked between two pages neither repeat nor hide another.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listApiTokens(context: Context, input: ApiTokenPageInput): Promise<CountedPage<ApiToken>> {
  context.caller.require('admin');
  const section = sectionOf(input, newestFirst);
  const listed = input.includeRevoked ? {} : { revokedAt: null };
  const { where, ...rest } = byId<number>(section);
  const found = await readInTurn(context, ({ db }) => db.apiToken.findMany({ where: { ...listed, ...where }, ...rest }));
  const totalCount = () => readInTurn(context, ({ db }) => db.apiToken.count({ where: listed }));
  return { ...pageOf(section, found), totalCount };
}

/**
 * Stores a secret chosen by the operator as an untagged API token with scope `admin`. Changes nothing if it is stored already,
 * also if it was revoked or replaced since, and returns that API token.
 */
export async function acceptBootstrapToken(context: Context, secret: string): Promise<ApiTokenRecord | undefined> {
  const found = await context.reads.apiTokenOfSecret(hashSecret(secret));
  if (!found)
    await inTransaction(context, async ({ db }) => {
      const createdAt = await readClock(db);
      const data = [{ name: 'bootstrap', scopes: ['admin'], createdAt, secretHash: secretHashOf(secret) }];
      await db.apiToken.createMany({ data, skipDuplicates: true });
    });
  return found;
}

/** The number of the advisory lock that instances take before they issue the first API token. */
const firstTokenLock = 727_074;

/**
 * Issues the first API token, for the Testing environment, with the scopes `groups:read` and `groups:write`; nothing if there
 * is one already. Of instances that start concurrently on one database, exactly one issues it.
 */
export async function issueFirstApiToken(context: Context): Promise<IssuedApiToken | undefined> {
  // Checked first without Prisma, whose engine takes 60 MB of memory from its first use on.
  if ((await context.sql('any-api-token', 'select id from api_token limit 1', [])).length > 0) return undefined;
  return inTransaction(context, async (inner) => {
    await inner.db.$queryRaw`select pg_advisory_xact_lock(${firstTokenLock})::text`;
    if ((await inner.db.apiToken.count()) > 0) return undefined;
    const scopes: Scope[] = ['groups:read', 'groups:write'];
    return createApiToken(inner, { name: 'first token', environmentTag: 'Testing', scopes, expiresAt: null });
  });
}
