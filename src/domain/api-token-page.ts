import { between } from '../database/queries/keyset-where.ts';
import type { ApiToken, PrismaClient } from '../generated/prisma/client.ts';
import { defineKeyset, integerColumn, sectionOf } from './keyset.ts';
import { type CountedPage, cutPage, type PageInput, withTotalCount } from './page.ts';

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
export async function readApiTokenPage(db: Pick<PrismaClient, 'apiToken'>, input: ApiTokenPageInput): Promise<ApiTokenPage> {
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
