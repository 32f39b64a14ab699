import { InvalidInput, type Issue } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type DateTimeRange, readTime } from '../input.ts';

/** The most items of one page; more is refused. */
export const maxPageSize = 100;

/** How many items a page has at most when the caller does not say. */
export const defaultPageSize = 20;

/** Which page of a list is asked for, in the terms of the Relay connection specification; null counts as omitted. */
export interface PageInput {
  /** The number of items from the start, 0 to 100. */
  readonly first?: number | null | undefined;
  /** Only items after the one with this cursor. */
  readonly after?: string | null | undefined;
  /** The number of items from the end, 0 to 100; not together with `first`. */
  readonly last?: number | null | undefined;
  /** Only items before the one with this cursor. */
  readonly before?: string | null | undefined;
}

/** A page of a list, in the order of the list whatever the direction of paging is. */
export interface Page<Node> {
  readonly edges: { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: {
    /** Whether there are more in the direction of paging; in the other direction, whether there was a cursor to begin at. */
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/** A page of a list whose items can be counted. */
export interface CountedPage<Node> extends Page<Node> {
  /** Counts the items of the whole list; null when that takes too long. */
  readonly totalCount: () => Promise<number | null>;
}

/** The order of a list. */
export interface ListOrder {
  /** A cursor of another list, or of another order, has another name. */
  readonly name: string;
  readonly direction: 'asc' | 'desc';
  /** The fields of its items with their columns; together they are unique. */
  readonly by: readonly { readonly field: string; readonly sql: string; readonly type: string }[];
}

/** The section of a list that is read for a page. */
export interface Section {
  readonly order: ListOrder;
  readonly isBackward: boolean;
  /** The order in which it is read: the opposite one for a page from the end. */
  readonly direction: 'asc' | 'desc';
  /** The values of the order's fields between which it is, in this direction, both excluded. */
  readonly start: readonly unknown[] | undefined;
  readonly end: readonly unknown[] | undefined;
  /** One more than a page has, which says whether there are more. */
  readonly limit: number;
}

/** The section that a page is read from. @throws InvalidInput for `others`, or a wrong size or cursor. */
export function sectionOf(input: PageInput, order: ListOrder, others: Iterable<Issue> = []): Section {
  const { first, last } = input;
  const issues: Issue[] = [];
  for (const name of ['first', 'last'] as const) {
    const size = input[name] ?? 0;
    if (!(Number.isInteger(size) && size >= 0 && size <= maxPageSize))
      issues.push({ path: [name], message: `must be from 0 to ${maxPageSize}.` });
  }
  if (first != null && last != null) issues.push({ path: ['last'], message: 'must not be combined with first.' });
  const types = order.by.map(({ type }) => type);
  const [after, before] = (['after', 'before'] as const).map((name) => {
    const cursor = input[name];
    const values = cursor == null ? undefined : readCursor(cursor, order.name, types);
    if (cursor != null && !values) issues.push({ path: [name], message: 'is not a cursor of this list in this order.' });
    return values;
  });
  issues.push(...others);
  if (issues.length > 0) throw new InvalidInput(issues);
  const limit = 1 + (last ?? first ?? defaultPageSize);
  if (last == null) return { order, isBackward: false, direction: order.direction, start: after, end: before, limit };
  const direction = order.direction === 'asc' ? 'desc' : 'asc';
  return { order, isBackward: true, direction, start: before, end: after, limit };
}

/** Makes a page of the items that were read for it. */
export function pageOf<Node extends object>({ order, isBackward, start, limit }: Section, found: readonly Node[]): Page<Node> {
  const cursorOf = (node: Node) => {
    const values = order.by.map(({ field }) => (node as Record<string, unknown>)[field]);
    return writeCursor(order.name, values);
  };
  const edges = found.slice(0, limit - 1).map((node) => ({ cursor: cursorOf(node), node }));
  if (isBackward) edges.reverse();
  const hasMore = found.length === limit;
  return {
    edges,
    pageInfo: {
      hasNextPage: isBackward ? start !== undefined : hasMore,
      hasPreviousPage: isBackward ? hasMore : start !== undefined,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

/** What `findMany` takes for a section of a list that is ordered by its id. */
export function byId<Id extends number | bigint>({ direction, start, end, limit }: Section) {
  const [above, below] = direction === 'asc' ? [start, end] : [end, start];
  const id = { ...(above && { gt: above[0] as Id }), ...(below && { lt: below[0] as Id }) };
  return { where: { id }, orderBy: { id: direction }, take: limit };
}

/** A list that the statement of a page reads. */
export interface ListSource {
  /** What is selected, with the names of the fields. */
  readonly columns: string;
  readonly table: string;
  /** Conditions: each part comes out of an index in the order of the list, and the parts have no item in common. */
  readonly parts: readonly (readonly Prisma.Sql[])[];
  /** A column that is the same in a part, and that the indexes begin with. */
  readonly prefix?: string;
}

/** The statement that reads a section. Its limit is in the text: for any limit, PostgreSQL would sort the table. */
export function pageStatement({ order, direction, start, end, limit }: Section, source: ListSource): Prisma.Sql {
  const { columns, table, parts, prefix } = source;
  const further = direction === 'asc' ? '>' : '<';
  const back = direction === 'asc' ? '<' : '>';
  const key = order.by.map(({ sql }) => sql);
  const bound = (operator: string, values: readonly unknown[]) =>
    Prisma.sql`(${Prisma.raw(key.join(', '))}) ${Prisma.raw(operator)} (${Prisma.join(
      order.by.map(({ type }, index) => Prisma.sql`${values[index]}::${Prisma.raw(type)}`),
    )})`;
  const bounds = [...(start ? [bound(further, start)] : []), ...(end ? [bound(back, end)] : [])];
  const orderBy = (names: readonly string[]) => Prisma.raw(`order by ${names.map((name) => `${name} ${direction}`).join(', ')}`);
  const atMost = Prisma.raw(`limit ${limit}`);
  const inner = orderBy(prefix === undefined ? key : [prefix, ...key]);
  const selects = parts.map(
    (part) => Prisma.sql`(select ${Prisma.raw(columns)} from ${Prisma.raw(table)}
      where ${Prisma.join([...part, ...bounds], ' and ')} ${inner} ${atMost})`,
  );
  const outer = orderBy(order.by.map(({ field }) => `"${field}"`));
  return Prisma.sql`select * from (${Prisma.join(selects, ' union all ')}) as item ${outer} ${atMost}`;
}

/** A cursor, which callers take as opaque. It holds only what the caller may read, and gives access to nothing. */
export const writeCursor = (list: string, values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([list, ...values], (_, value) => (typeof value === 'bigint' ? String(value) : value))).toString(
    'base64url',
  );

/** The values of a cursor; undefined when the text is no cursor of this list with values of these types. */
export function readCursor(cursor: string, list: string, types: readonly string[]): unknown[] | undefined {
  const [name, ...parts] = parseList(Buffer.from(cursor, 'base64url').toString());
  if (name !== list || parts.length !== types.length) return undefined;
  const values = types.map((type, index) => readers[type as keyof typeof readers](parts[index]));
  return values.includes(undefined) ? undefined : values;
}

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A number from 0 to 999,999,999,999,999,999 as text. */
export const readBigInt = (part: unknown): bigint | undefined =>
  typeof part === 'string' && /^\d{1,18}$/.test(part) ? BigInt(part) : undefined;

const readers = {
  int: (part: unknown) => (Number.isInteger(part) && Math.abs(part as number) < 2 ** 31 ? part : undefined),
  bigint: readBigInt,
  text: (part: unknown) => (typeof part === 'string' && part.isWellFormed() && !part.includes('\0') ? part : undefined),
  timestamptz: (part: unknown) => (typeof part === 'string' ? readTime(part) : undefined),
  uuid: (part: unknown) =>
    typeof part === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(part) ? part : undefined,
};

/** The conditions for a range of time. */
export const rangeConditions = (column: string, range: DateTimeRange | null | undefined): Prisma.Sql[] => [
  ...(range?.from ? [Prisma.sql`${Prisma.raw(column)} >= ${range.from}::timestamptz`] : []),
  ...(range?.to ? [Prisma.sql`${Prisma.raw(column)} < ${range.to}::timestamptz`] : []),
];
