import type { Database } from '../database/client.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { InvalidInput, type Issue } from './errors.ts';
import { type CountedPage, cutPage, type PageInput, pageSizeIssues, pageSizeOf, withTotalCount } from './page.ts';

/** Which API tokens are listed. */
export interface ApiTokenPageInput extends PageInput {
  /** Whether revoked ones are listed too; by default they are not. */
  readonly includeRevoked?: boolean | null | undefined;
}

/** A page of API tokens. All of them are counted, on every page. */
export type ApiTokenPage = CountedPage<ApiToken, number>;

type Prisma = Pick<Database['prisma'], 'apiToken'>;

const listName = 'ApiToken';

/**
 * A page of API tokens, the newest first, expired ones included. A cursor is the number of a token, so that tokens that are
 * created or revoked between two pages neither repeat nor hide another.
 *
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function readApiTokenPage(prisma: Prisma, input: ApiTokenPageInput): Promise<ApiTokenPage> {
  const issues = [...pageSizeIssues(input)];
  const after = readCursor('after', input.after, issues);
  const before = readCursor('before', input.before, issues);
  if (issues.length > 0) throw new InvalidInput(issues);

  const { size, isBackward } = pageSizeOf(input);
  const listed = input.includeRevoked ? {} : { revokedAt: null };
  const found = await prisma.apiToken.findMany({
    where: { ...listed, id: { ...(after !== undefined && { lt: after }), ...(before !== undefined && { gt: before }) } },
    orderBy: { id: isBackward ? 'asc' : 'desc' },
    take: size + 1,
  });
  const cursorOf = ({ id }: ApiToken) => encodeCursor(listName, [id]);
  const page = cutPage({ found, cursorOf, nodeOf: (token) => token }, { size, isBackward, after, before });
  return withTotalCount(page, () => prisma.apiToken.count({ where: listed }));
}

/** The number that a cursor holds; undefined without a cursor, and when it is not one of this list, which is an issue. */
function readCursor(name: 'after' | 'before', cursor: string | null | undefined, issues: Issue[]): number | undefined {
  if (cursor == null) return undefined;
  const [id, ...rest] = decodeCursor(listName, cursor) ?? [];
  if (Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 31 && rest.length === 0) return id as number;
  issues.push({ path: [name], message: 'is not a cursor of this list.' });
  return undefined;
}
