import type { Database } from '../database/client.ts';
import { repeatOnConflict } from '../database/errors.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { Caller, isScope, scopeNames } from './caller.ts';
import { InvalidInput, type Issue, NotFound, shorten, Unauthenticated } from './errors.ts';
import type { LastUsed } from './last-used.ts';
import { textIssues } from './limits.ts';
import type { Statements } from './statements.ts';
import { apiTokenProblem, hashSecret, issueToken } from './tokens.ts';

/** What is asked for when an API token is issued. */
export interface ApiTokenRequest {
  /** What the token is for: 1 to 255 characters. */
  readonly name: string;
  /** The environment that its caller works in; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
  /** At least one. */
  readonly scopes: readonly string[];
  /** From when on it is refused; `null` means never. */
  readonly expiresAt: Date | null;
}

type Prisma = Pick<Database['prisma'], 'apiToken'>;

type Db = { readonly prisma: Prisma; readonly statements: Statements };

/**
 * Issues an API token. The secret is in the answer and nowhere else: only its hash is stored.
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

/** Every API token that was ever issued, oldest first. */
export function listApiTokens(prisma: Prisma): Promise<ApiToken[]> {
  return prisma.apiToken.findMany({ orderBy: { id: 'asc' } });
}

/**
 * Revokes an API token from the next request on, on every instance; once revoked, it stays as it was.
 *
 * @throws NotFound when there is none with this id.
 */
export async function revokeApiToken(prisma: Prisma, id: number): Promise<ApiToken> {
  await prisma.apiToken.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
  const apiToken = await prisma.apiToken.findUnique({ where: { id } });
  if (!apiToken) throw new NotFound(`There is no API token with the id ${id}. \`token list\` shows them all.`);
  return apiToken;
}

/** Accepts a secret of the operator's choice as an API token with scope `admin`, untagged. Does nothing if it is known. */
export async function acceptBootstrapToken({ prisma, statements }: Db, secret: string): Promise<void> {
  if (await statements.apiToken(hashSecret(secret))) return;
  const data = [{ name: 'bootstrap', scopes: ['admin'], secretHash: Buffer.from(hashSecret(secret), 'hex') }];
  await prisma.apiToken.createMany({ data, skipDuplicates: true });
}

/**
 * Issues the very first API token, for the Testing environment and with every scope for groups; nothing if there is one
 * already. Instances that start at once on one database agree on who issues it.
 */
export async function issueFirstApiToken({
  prisma,
  query,
}: Pick<Database, 'prisma' | 'query'>): Promise<{ secret: string; apiToken: ApiToken } | undefined> {
  // Asked first without Prisma, whose engine takes 60 MB of memory from its first use on.
  if ((await query('any-api-token', 'select from api_token limit 1', [])).length > 0) return undefined;
  return repeatOnConflict(() =>
    prisma.$transaction(async (transaction) => {
      await transaction.$executeRaw`select pg_advisory_xact_lock(${firstTokenLock})`;
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

/** So that what is counted is read after the lock was waited for, whatever the server's default is. */
const readCommitted = { isolationLevel: 'ReadCommitted' } as const;

/** The number of the advisory lock that instances take before they issue the first API token. */
const firstTokenLock = 727_074;

/** What recognising a caller needs: where API tokens are looked up, and where it is noted that one was used. */
export interface AuthDependencies {
  readonly statements: Statements;
  readonly lastUsed: Pick<LastUsed, 'note'>;
}

/**
 * Tells who holds a secret, and notes that it was used. A secret of wrong form is refused without asking the database.
 *
 * @throws Unauthenticated when it is of wrong form, unknown, expired or revoked.
 */
export async function authenticate({ statements, lastUsed }: AuthDependencies, secret: string): Promise<Caller> {
  const problem = apiTokenProblem(secret);
  if (problem) throw new Unauthenticated(`The API token ${problem}.`);
  const found = await statements.apiToken(hashSecret(secret));
  if (!found) throw new Unauthenticated('The API token is unknown.');
  if (found.revoked) throw new Unauthenticated('The API token is revoked.');
  if (found.expired) throw new Unauthenticated('The API token has expired.');
  lastUsed.note(found.id);
  return new Caller(found);
}

function scopeIssues(asked: readonly string[]): Issue[] {
  if (asked.length === 0) return [{ path: ['scopes'], message: `must hold at least one of ${scopeNames.join(', ')}.` }];
  return asked
    .filter((scope) => !isScope(scope))
    .map((scope) => ({
      path: ['scopes'],
      message: `has no ${JSON.stringify(shorten(scope))}; there are ${scopeNames.join(', ')}.`,
    }));
}
