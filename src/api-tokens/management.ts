import type { Caller, Scope } from '../caller.ts';
import { between, defineKeyset, integerColumn, sectionOf } from '../database/keyset.ts';
import { type CountedPage, cutPage, type PageInput, withTotalCount } from '../database/page.ts';
import { pageReads } from '../database/shared-reads.ts';
import type { ApiToken, EnvironmentTag, PrismaClient } from '../generated/prisma/client.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { type IssuedApiToken, issueApiToken, revokeApiToken, rotateApiToken } from './api-tokens.ts';
import type { ListedApiToken } from './statements.ts';
import { type ApiTokenChanges, updateApiToken } from './update.ts';

/** The properties of an API token that a caller creates; null counts as omitted, except for the environment. */
export interface CreateApiTokenInput {
  readonly name: string;
  /** `null` means untagged; defaults to the environment of the caller's API token. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
  /** Requests in 60 seconds: 1 to 1,000,000; `null` means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
}

/** What a caller may do with API tokens. Each operation rejects with `InvalidInput` or `NotFound`. */
export interface ApiTokenManagement {
  /** A page of all API tokens, the newest first. */
  list(input: ApiTokenPageInput): Promise<ApiTokenPage>;
  create(input: CreateApiTokenInput): Promise<IssuedApiToken>;
  /** @param overlapSeconds how long the replaced secret stays accepted: 0 to 604800. */
  rotate(number: number, overlapSeconds: number): Promise<IssuedApiToken>;
  update(number: number, changes: ApiTokenChanges): Promise<ApiToken>;
  revoke(number: number): Promise<ApiToken>;
}

/**
 * The management of API tokens, of every environment, by a caller. The operations are the same as those of the commands.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function manageApiTokens({ db }: Pick<Services, 'db'>, caller: Caller): ApiTokenManagement {
  caller.require('admin');
  const { author } = caller;
  return {
    list: (input) => pageReads.run(caller.queueKey, () => readApiTokenPage(db, input)),
    create: ({ environmentTag = caller.environmentTag, expiresAt = null, ...rest }) =>
      issueApiToken(db, { ...rest, environmentTag, expiresAt }, author),
    rotate: (number, overlapSeconds) => rotateApiToken(db, number, overlapSeconds, author),
    update: (number, changes) => updateApiToken(db, number, changes, author),
    revoke: (number) => revokeApiToken(db, number, author),
  };
}

/**
 * The API token with this number, of any environment; undefined when there is none.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function findApiToken({ db }: Pick<Services, 'db'>, caller: Caller, number: number): Promise<ListedApiToken | undefined> {
  caller.require('admin');
  return db.apiToken.findById(number, caller.queueKey);
}

/** Which API tokens are listed. */
export interface ApiTokenPageInput extends PageInput {
  /** Whether revoked ones are listed too; by default they are not. */
  readonly includeRevoked?: boolean | null | undefined;
}

/** A page of API tokens. All of them are counted, on every page. */
export type ApiTokenPage = CountedPage<ApiToken, number>;

const keyset = defineKeyset<Pick<ApiToken, 'id'>>('ApiToken', { id: integerColumn });

/**
 * A page of API tokens, the newest first, expired ones included. A cursor is the number of a token, so that tokens that are
 * created or revoked between two pages neither repeat nor hide another.
 *
 * @throws InvalidInput, also for a cursor of another list.
 */
async function readApiTokenPage(db: Pick<PrismaClient, 'apiToken'>, input: ApiTokenPageInput): Promise<ApiTokenPage> {
  const section = sectionOf(input, { keyset, direction: 'desc' });
  const listed = input.includeRevoked ? {} : { revokedAt: null };
  const found = await db.apiToken.findMany({
    where: { ...listed, AND: between(section) },
    orderBy: { id: section.direction },
    take: section.limit,
  });
  const page = cutPage({ found, cursorOf: keyset.cursorOf, nodeOf: (token) => token }, section);
  return withTotalCount(page, () => db.apiToken.count({ where: listed }));
}
