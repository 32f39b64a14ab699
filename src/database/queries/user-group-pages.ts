import type { UserGroup } from '../../generated/prisma/client.ts';
import type { Database } from '../client.ts';
import { UserGroupRow, UserGroupSummaryRow, userGroupSelectList, userGroupSummarySelectList } from './user-group-columns.ts';
import { directions, type PageQuery, type Position, sortColumns } from './user-group-page-query.ts';

/** The most groups that a page query may ask for. */
const maxGroups = 101;

/** Reads of pages. */
export interface UserGroupPages {
  /**
   * The groups of one environment in an order, in one statement.
   *
   * @param withJson whether properties and mappings are read; without, taking them from a group throws.
   * @throws RangeError for a limit above 101.
   */
  readonly readPage: (query: PageQuery, withJson: boolean) => Promise<UserGroup[]>;
}

/** Binds the reads of pages to a database. */
export function bindUserGroupPages({ query }: Pick<Database, 'query'>): UserGroupPages {
  return {
    async readPage(page, withJson) {
      if (page.limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${page.limit}.`);
      const { name, text } = statementOf(page, withJson);
      const rows = await query(name, text, valuesOf(page));
      const GroupRow = withJson ? UserGroupRow : UserGroupSummaryRow;
      return rows.map((row) => new GroupRow(row));
    },
  };
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** One for each order, direction and set of bounds, so that connections can prepare them: 128 at most. */
const statements = new Map<string, Statement>();

function statementOf(page: PageQuery, withJson: boolean): Statement {
  const { environmentTag, sortBy, direction, start, end } = page;
  const environment = environmentTag === null ? 'untagged' : 'tagged';
  const bounds = `${start ? '-start' : ''}${end ? '-end' : ''}`;
  const name = `${withJson ? '' : 'summary-'}group-page-${sortBy}-${direction}-${environment}${bounds}`;
  let statement = statements.get(name);
  if (!statement) {
    statement = { name, text: textOf(page, withJson) };
    statements.set(name, statement);
  }
  return statement;
}

function textOf({ environmentTag, sortBy, direction, start, end }: PageQuery, withJson: boolean): string {
  const { sql: column, type } = sortColumns[sortBy];
  const { order, further, back } = directions[direction];
  let parameters = 1;
  const parameter = (of: string): string => {
    parameters += 1;
    return `$${parameters}::${of}`;
  };
  const bound = (operator: string): string => `(g.${column}, g.team_id) ${operator} (${parameter(type)}, ${parameter('int')})`;
  const where = [
    environmentTag === null ? 'g.environment_tag is null' : `g.environment_tag = ${parameter('environment_tag')}`,
    ...(start ? [bound(further)] : []),
    ...(end ? [bound(back)] : []),
  ];
  const orderBy = (columns: readonly string[]): string => columns.map((each) => `${each} ${order}`).join(', ');
  // An id is unique in its environment, so that its index needs no number.
  const own = sortBy === 'providedId' ? [column] : [column, 'team_id'];
  // The index begins with the environment. PostgreSQL infers from `=` that it is constant, and then no longer knows it as a part
  // of the order of what the inner statement returns; from `is null` it does not.
  const all = ['environment_tag', ...own];
  const columns = (withJson ? userGroupSelectList : userGroupSummarySelectList)('g');
  // The inner limit is for the planner. Without it a plan for any limit would sort the table, so that none would be kept:
  // planning takes PostgreSQL longer than reading the page.
  return `
  select * from (
    select ${columns} from user_group g where ${where.join(' and ')} order by ${orderBy(all)} limit ${maxGroups}
  ) as page order by ${orderBy(environmentTag === null ? all : own)} limit $1::int`;
}

function valuesOf({ environmentTag, start, end, limit }: PageQuery): unknown[] {
  const bound = (position: Position | undefined): unknown[] =>
    position ? [position.value instanceof Date ? position.value.toISOString() : position.value, position.teamId] : [];
  return [limit, ...(environmentTag === null ? [] : [environmentTag]), ...bound(start), ...bound(end)];
}
