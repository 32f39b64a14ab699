import type { Database } from '../database/client.ts';
import { repeatOnConflict } from '../database/errors.ts';
import type { ApiTokenLookups } from '../database/queries/api-token-lookups.ts';
import { lockFirstApiToken } from '../database/queries/api-token-writes.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { Caller, isScope, scopeNames } from './caller.ts';
import { InvalidInput, type Issue, NotFound, shorten, Unauthenticated } from './errors.ts';
import type { LastUsed } from './last-used.ts';
import { textIssues } from './limits.ts';
import { apiTokenProblem, hashSecret, issueToken } from './tokens.ts';

/** The properties of an API token to issue. */
export interface ApiTokenRequest {
  /** What the token is for: 1 to 255 characters. */
  readonly name: string;
  /** The environment it has access to; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
  /** At least one. */
  readonly scopes: readonly string[];
  /** When it expires; `null` means never. */
  readonly expiresAt: Date | null;
}

type Prisma = Pick<Database['prisma'], 'apiToken'>;

/**
 * Issues an API token. The result is the only place that has the secret: only its hash is stored.
 *
 * @throws InvalidInput.
 */
export async function issueApiToken(prisma: Prisma, request: ApiTokenRequest): Promise<{ secret: string; apiToken: ApiToken }> {
  const issues = [...textIssues(['name'], request.name), ...scopeIssues(request.scopes)];
  if (issues.length > 0) throw new InvalidInput(issues);
  const secret = issueToken('apiToken');
  const data = { ...request, scopes: [...new Set(request.scopes)], secretHash: Buffer.from(hashSecret(secret), 'hex') };
  return { secret, apiToken: await prisma.apiToken.create({ data }) };
}

/** Every API token, revoked and expired ones included, oldest first. */
export function listApiTokens(prisma: Prisma): Promise<ApiToken[]> {
  return prisma.apiToken.findMany({ orderBy: { id: 'asc' } });
}

/**
 * Revokes an API token, effective from the next request on every instance. Revoking it again changes nothing.
 *
 * @throws NotFound when no API token has this id.
 */
export async function revokeApiToken(prisma: Prisma, id: number): Promise<ApiToken> {
  await prisma.apiToken.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
  const apiToken = await prisma.apiToken.findUnique({ where: { id } });
  if (!apiToken) throw new NotFound(`No API token has the id ${id}. \`token list\` lists all of them.`);
  return apiToken;
}

/** Stores a secret chosen by the operator as an untagged API token with scope `admin`. Does nothing if it is stored already. */
export async function acceptBootstrapToken(
  { prisma, lookups }: { readonly prisma: Prisma; readonly lookups: Pick<ApiTokenLookups, 'apiTokenByHash'> },
  secret: string,
): Promise<void> {
  if (await lookups.apiTokenByHash(hashSecret(secret))) return;
  const data = [{ name: 'bootstrap', scopes: ['admin'], secretHash: Buffer.from(hashSecret(secret), 'hex') }];
  await prisma.apiToken.createMany({ data, skipDuplicates: true });
}

/**
 * Issues the first API token, for the Testing environment, with the scopes `groups:read` and `groups:write`; nothing if there
 * is one already. Of instances that start concurrently on one database, exactly one issues it.
 */
export async function issueFirstApiToken({
  prisma,
  lookups,
}: Pick<Database, 'prisma'> & { readonly lookups: Pick<ApiTokenLookups, 'hasApiTokens'> }): Promise<
  { secret: string; apiToken: ApiToken } | undefined
> {
  // Checked first without Prisma, whose engine takes 60 MB of memory from its first use on.
  if (await lookups.hasApiTokens()) return undefined;
  return repeatOnConflict(() =>
    prisma.$transaction(async (transaction) => {
      await lockFirstApiToken(transaction);
      if ((await transaction.apiToken.count()) > 0) return undefined;
      const request = {
        name: 'first token',
        environmentTag: 'Testing',
        scopes: ['groups:read', 'groups:write'],
        expiresAt: null,
      } as const;
      return issueApiToken(transaction, request);
    }, readCommitted),
  );
}

/** Regardless of the server's default, so that the count sees what was committed while the lock was awaited. */
const readCommitted = { isolationLevel: 'ReadCommitted' } as const;

/** The dependencies of authentication: where API tokens are looked up, and where their use is recorded. */
export interface AuthDependencies {
  readonly lookups: Pick<ApiTokenLookups, 'apiTokenByHash'>;
  readonly lastUsed: Pick<LastUsed, 'note'>;
}

/**
 * Finds the caller that holds a secret, and records its use. A malformed secret is rejected without a query.
 *
 * @throws Unauthenticated when it is malformed, unknown, expired or revoked.
 */
export async function authenticate({ lookups, lastUsed }: AuthDependencies, secret: string): Promise<Caller> {
  const problem = apiTokenProblem(secret);
  if (problem) throw new Unauthenticated(`The API token ${problem}.`);
  const found = await lookups.apiTokenByHash(hashSecret(secret));
  if (!found) throw new Unauthenticated('The API token is unknown.');
  if (found.isRevoked) throw new Unauthenticated('The API token is revoked.');
  if (found.isExpired) throw new Unauthenticated('The API token has expired.');
  lastUsed.note(found.id);
  return new Caller(found);
}

function scopeIssues(requested: readonly string[]): Issue[] {
  if (requested.length === 0) return [{ path: ['scopes'], message: `must contain at least one of ${scopeNames.join(', ')}.` }];
  return requested
    .filter((scope) => !isScope(scope))
    .map((scope) => ({
      path: ['scopes'],
      message: `has the unknown scope ${JSON.stringify(shorten(scope))}; expected ${scopeNames.join(', ')}.`,
    }));
}
