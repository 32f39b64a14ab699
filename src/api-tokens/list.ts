import type { Caller } from '../caller.ts';
import { between, defineKeyset, integerColumn, sectionOf } from '../database/keyset.ts';
import { type CountedPage, cutPage, type PageInput, pageReads, withTotalCount } from '../database/page.ts';
import type { ApiToken, PrismaClient } from '../generated/prisma/client.ts';
import type { Services } from '../user-groups/user-groups.ts';
import type { ApiTokenRecord } from './statements.ts';

/** Which API tokens are listed. */
export interface ApiTokenPageInput extends PageInput {
  /** Whether revoked ones are listed too; by default they are not. */
  readonly includeRevoked?: boolean | null | undefined;
}

/** A page of API tokens. All of them are counted, on every page. */
export type ApiTokenPage = CountedPage<ApiToken, number>;

const keyset = defineKeyset<Pick<ApiToken, 'id'>>('ApiToken', { id: integerColumn });

/**
 * A page of the API tokens of every environment, the newest first, expired ones included. A cursor is the number of a token, so
 * that tokens that are created or revoked between two pages neither repeat nor hide another.
 *
 * @throws Unauthenticated, Forbidden, synchronously, without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export function readApiTokens({ db }: Pick<Services, 'db'>, caller: Caller, input: ApiTokenPageInput): Promise<ApiTokenPage> {
  caller.require('admin');
  return pageReads.run(caller.queueKey, () => readPage(db, input));
}

async function readPage(db: Pick<PrismaClient, 'apiToken'>, input: ApiTokenPageInput): Promise<ApiTokenPage> {
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

/**
 * The API token with this number, of any environment; undefined when there is none.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function findApiToken({ db }: Pick<Services, 'db'>, caller: Caller, number: number): Promise<ApiTokenRecord | undefined> {
  caller.require('admin');
  return db.apiToken.findById(number);
}
