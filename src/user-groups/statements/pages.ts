import { createBatchLoader, type Load } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { names } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import {
  UserGroupRow,
  UserGroupSummaryRow,
  userGroupColumnCount,
  userGroupSelectList,
  userGroupSummarySelectList,
} from './columns.ts';

/** The columns that groups can be sorted by. */
export type SortField = 'createdAt' | 'updatedAt' | 'name' | 'providedId';

/** The position of a group in an order: its sort value, and its number among those with the same one. */
export interface Position {
  readonly teamId: number;
  /** Of the type of the column. Texts are in the order of their code points. */
  readonly value: Date | string;
}

/** Groups of one environment, in order. */
export interface PageQuery {
  readonly environmentTag: EnvironmentTag | null;
  readonly sortBy: SortField;
  readonly direction: 'asc' | 'desc';
  /** Positions between which the groups are in this direction, both excluded. */
  readonly start?: Position | undefined;
  readonly end?: Position | undefined;
  readonly limit: number;
}

/** The column of each sort field. */
export const sortColumns = {
  createdAt: { sql: 'created_at', type: 'timestamptz' },
  updatedAt: { sql: 'updated_at', type: 'timestamptz' },
  name: { sql: 'name', type: 'text' },
  providedId: { sql: 'provided_id', type: 'text' },
} as const satisfies Readonly<Record<SortField, { readonly sql: string; readonly type: string }>>;

/** The operators of each direction. */
export const directions = {
  asc: { order: 'asc', further: '>', back: '<' },
  desc: { order: 'desc', further: '<', back: '>' },
} as const;

/** The most groups that a page query may ask for. */
const maxGroups = 101;

/** The most pages in one statement. Those with JSON, which may have megabytes, are read one by one. */
const maxPages = 16;

/** Reads of pages. */
export interface UserGroupPages {
  /** The groups of one environment in an order. Requests share a statement. @throws RangeError for a limit above 101. */
  readonly readPage: Load<PageQuery, UserGroup[]>;
  /** The same without their properties and mapping; taking them from a group throws. */
  readonly readSummaryPage: Load<PageQuery, UserGroup[]>;
}

/** Binds the reads of pages to a database. */
export function bindUserGroupPages({ query }: Pick<Database, 'query'>): UserGroupPages {
  const loader = (withJson: boolean) => {
    const GroupRow = withJson ? UserGroupRow : UserGroupSummaryRow;
    return createBatchLoader<PageQuery, UserGroup[]>({
      keyOf,
      maxKeys: withJson ? 1 : maxPages,
      async load(pages) {
        const found = new Map<string, UserGroup[]>();
        for (const { name, text, pages: alike } of byStatement(pages, withJson)) {
          const lists = alike.map((): UserGroup[] => []);
          for (const row of await query(name, text, valuesOf(alike))) {
            lists[Number(row[userGroupColumnCount]) - 1]?.push(new GroupRow(row));
          }
          for (const [index, page] of alike.entries()) found.set(keyOf(page), lists[index] as UserGroup[]);
        }
        return found;
      },
    });
  };
  return { readPage: loader(true), readSummaryPage: loader(false) };
}

const timeOrText = (value: Position['value']): string => (value instanceof Date ? value.toISOString() : value);

/** Identifies a page. */
function keyOf({ environmentTag, sortBy, direction, start, end, limit }: PageQuery): string {
  const at = (position: Position | undefined) => (position ? `${position.teamId} ${timeOrText(position.value)}` : '');
  const first = at(start);
  return `${environmentTag} ${sortBy} ${direction} ${limit} ${first.length} ${first}${at(end)}`;
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** One for each order, direction and set of bounds, so that connections can prepare them: 128 at most. */
const statements = new Map<string, Statement>();

/** The statements that read some pages, each with those that it reads. */
function byStatement(pages: readonly PageQuery[], withJson: boolean): Iterable<Statement & { readonly pages: PageQuery[] }> {
  const groups = new Map<string, Statement & { readonly pages: PageQuery[] }>();
  for (const page of pages) {
    if (page.limit > maxGroups) throw new RangeError(`A page query is for at most ${maxGroups} groups, not ${page.limit}.`);
    const { environmentTag, sortBy, direction, start, end } = page;
    const environment = environmentTag === null ? 'untagged' : 'tagged';
    const bounds = `${start ? '-start' : ''}${end ? '-end' : ''}`;
    const name = `${withJson ? '' : 'summary-'}group-page-${sortBy}-${direction}-${environment}${bounds}`;
    const group = groups.get(name);
    if (group) {
      group.pages.push(page);
      continue;
    }
    const statement = statements.get(name) ?? { name, text: textOf(page, withJson) };
    statements.set(name, statement);
    groups.set(name, { ...statement, pages: [page] });
  }
  return groups.values();
}

function textOf({ environmentTag, sortBy, direction, start, end }: PageQuery, withJson: boolean): string {
  const { sql: column, type } = sortColumns[sortBy];
  const { order, further, back } = directions[direction];
  const parameters = [
    { sql: 'size', type: 'int' },
    ...(environmentTag === null ? [] : [{ sql: 'tag', type: 'environment_tag' }]),
    ...(start
      ? [
          { sql: 'start_value', type },
          { sql: 'start_id', type: 'int' },
        ]
      : []),
    ...(end
      ? [
          { sql: 'end_value', type },
          { sql: 'end_id', type: 'int' },
        ]
      : []),
  ];
  const bound = (operator: string, which: string) =>
    `(g.${column}, g.team_id) ${operator} (page.${which}_value, page.${which}_id)`;
  const where = [
    environmentTag === null ? 'g.environment_tag is null' : 'g.environment_tag = page.tag',
    ...(start ? [bound(further, 'start')] : []),
    ...(end ? [bound(back, 'end')] : []),
  ];
  const orderBy = (columns: readonly string[]): string => columns.map((each) => `${each} ${order}`).join(', ');
  // An id is unique in its environment, so that its index needs no number.
  const own = sortBy === 'providedId' ? [column] : [column, 'team_id'];
  // The index begins with the environment.
  const all = ['environment_tag', ...own];
  const columns = withJson ? userGroupSelectList : userGroupSummarySelectList;
  // Each list is a subquery, which the planner does not look into: by its length it would plan anew for each few pages. And a
  // page has the greatest limit inside of its own: for any limit it would sort the table.
  const lists = parameters.map((each, index) => `(select $${index + 1}::${each.type}[])`);
  return `
  select g.*, page.position
  from unnest(${lists.join(', ')}) with ordinality as page (${names(parameters)}, position) cross join lateral (
    select * from (
      select ${columns('g')} from user_group g where ${where.join(' and ')} order by ${orderBy(all)} limit ${maxGroups}
    ) as first order by ${orderBy(environmentTag === null ? all : own)} limit page.size
  ) as g order by page.position, ${orderBy(own.map((each) => `g.${each}`))}`;
}

/** Lists of the values of pages that are alike. */
function valuesOf(pages: readonly PageQuery[]): unknown[] {
  const [{ environmentTag, start, end } = {} as PageQuery] = pages;
  const bound = (which: 'start' | 'end') => [
    pages.map((page) => timeOrText((page[which] as Position).value)),
    pages.map((page) => (page[which] as Position).teamId),
  ];
  return [
    pages.map(({ limit }) => limit),
    ...(environmentTag === null ? [] : [pages.map((page) => page.environmentTag)]),
    ...(start ? bound('start') : []),
    ...(end ? bound('end') : []),
  ];
}
