import { createHash } from 'node:crypto';
import { InvalidInput, type Issue } from '../errors.ts';
import { type PageInput, type PageSection, pageSizeIssues, pageSizeOf } from './page.ts';

/** What a cursor consists of: the list's own description of a position. */
export type CursorPart = string | number | null;

/** The longest cursor: a text of 255 characters, each of which JSON escapes, and what goes with it. */
const maxCursorLength = 2_560;

const checksumBytes = 8;

/**
 * Makes a cursor, which callers take as opaque: a checksum and the parts. It holds only what the caller may read, and gives
 * access to nothing: a page is read with the rights of the caller who sends the cursor.
 *
 * @param list the name of the list and its order; a cursor of another list is refused.
 */
export function encodeCursor(list: string, parts: readonly CursorPart[]): string {
  const payload = Buffer.from(JSON.stringify([list, ...parts]));
  return Buffer.concat([checksum(payload), payload]).toString('base64url');
}

/** The parts of a cursor of this list; undefined when the text was not made by {@link encodeCursor} for it. */
function decodeCursor(list: string, cursor: string): CursorPart[] | undefined {
  if (cursor.length > maxCursorLength) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(checksumBytes);
  // The decoder skips what is not base64url, so that other texts may decode to the same bytes.
  if (bytes.toString('base64url') !== cursor || !checksum(payload).equals(bytes.subarray(0, checksumBytes))) return undefined;
  const [name, ...parts] = parseList(payload.toString());
  return name === list && parts.every(isPart) ? parts : undefined;
}

const checksum = (payload: Buffer): Buffer => createHash('sha256').update(payload).digest().subarray(0, checksumBytes);

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isPart = (value: unknown): value is CursorPart => value === null || typeof value === 'string' || typeof value === 'number';

/** The times that a filter can name: those of the years 1 to 9999. */
const minTimeMs = Date.parse('0001-01-01T00:00:00.000Z');
const maxTimeMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether PostgreSQL and ISO 8601 have a point in time in common. */
const isStorableTime = (milliseconds: number): boolean => milliseconds >= minTimeMs && milliseconds <= maxTimeMs;

/** The issues of a time that is to be stored or compared with a stored one; null and undefined have none. */
export const timeIssues = (path: Issue['path'], time: Date | null | undefined): Issue[] =>
  time == null || isStorableTime(time.getTime()) ? [] : [{ path, message: 'must be in the years 1 to 9999, in UTC.' }];

/** From `from`, which is included, to `to`, which is not; null counts as omitted. */
export interface DateTimeRange {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

/** The issues of a range of time. */
export function* rangeIssues(path: Issue['path'], range: DateTimeRange): Generator<Issue> {
  for (const name of ['from', 'to'] as const) yield* timeIssues([...path, name], range[name]);
  if (range.from && range.to && range.from > range.to) yield { path: [...path, 'to'], message: 'must not be before from.' };
}

/** How the values of a column are part of a cursor, and how they are ordered. */
export interface KeysetColumn<Value> {
  write(value: Value): CursorPart;
  /** Undefined when no row can have it. */
  read(part: CursorPart | undefined): Value | undefined;
  /** Negative when `a` is before `b` in ascending order, positive when after it. Without it, the column is not ordered by. */
  compare?(a: Value, b: Value): number;
}

/** A time with milliseconds. */
export const timeColumn: KeysetColumn<Date> = {
  write: (time) => time.getTime(),
  read: (part) => (Number.isInteger(part) && isStorableTime(part as number) ? new Date(part as number) : undefined),
  compare: (a, b) => a.getTime() - b.getTime(),
};

/** A text in the order of its code points, as the database has it. */
export const textColumn: KeysetColumn<string> = {
  write: (text) => text,
  read: (part) => (typeof part === 'string' && part.isWellFormed() && !part.includes('\0') ? part : undefined),
  compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)),
};

/** A number from 0 to 2,147,483,647. */
export const integerColumn: KeysetColumn<number> = {
  write: (number) => number,
  read: (part) => (Number.isInteger(part) && (part as number) >= 0 && (part as number) < 2 ** 31 ? (part as number) : undefined),
  compare: (a, b) => a - b,
};

/** A number from 0 to 2^63 - 1. */
export const bigIntColumn: KeysetColumn<bigint> = {
  write: String,
  read: (part) => (typeof part === 'string' && /^\d{1,19}$/.test(part) && BigInt(part) < 2n ** 63n ? BigInt(part) : undefined),
  compare: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
};

/** The columns that a list is ordered by, in this order; together they are unique. */
export interface Keyset<Position> {
  /** The cursor of a position: the same in both directions, and whatever the filter is. */
  cursorOf(position: Position): string;
  /** The position of a cursor; undefined when it is not one of this list. */
  read(cursor: string): Position | undefined;
  /** Negative when `a` is before `b` in ascending order, positive when after it. */
  compare(a: Position, b: Position): number;
}

/**
 * Defines the order of a list.
 *
 * @param name that of the list and its order: cursors of another one are refused.
 *
 * @example
 * const keyset = defineKeyset<EventPosition>('Event', { occurredAt: timeColumn, id: bigIntColumn });
 */
export function defineKeyset<Position extends object>(
  name: string,
  columns: { readonly [Field in keyof Position]-?: KeysetColumn<Position[Field]> },
): Keyset<Position> {
  const entries = Object.entries(columns) as [keyof Position, KeysetColumn<Position[keyof Position]>][];
  return {
    cursorOf: (position) =>
      encodeCursor(
        name,
        entries.map(([field, column]) => column.write(position[field])),
      ),
    read(cursor) {
      const parts = decodeCursor(name, cursor);
      if (parts?.length !== entries.length) return undefined;
      const values = entries.map(([field, column], index) => [field, column.read(parts[index])] as const);
      return values.some(([, value]) => value === undefined) ? undefined : (Object.fromEntries(values) as Position);
    },
    compare(a, b) {
      for (const [field, { compare }] of entries) {
        const order = compare?.(a[field], b[field]) ?? 0;
        if (order !== 0) return order;
      }
      return 0;
    },
  };
}

/** The section of a list that is read for a page. */
export interface KeysetSection<Position> extends PageSection {
  /** The order in which it is read, which is not that of the list for a page from its end. */
  readonly direction: 'asc' | 'desc';
  /** Positions between which it is in this direction, both excluded. */
  readonly start: Position | undefined;
  readonly end: Position | undefined;
  /** One more than a page has, which says whether there are more. */
  readonly limit: number;
}

/** How a list is ordered, and from where it may be read. */
export interface KeysetOrder<Position> {
  readonly keyset: Keyset<Position>;
  readonly direction: 'asc' | 'desc';
  /** Whether the caller may have the cursor of this position. By default of any. */
  readonly isVisible?: (position: Position) => boolean;
  /** What to do about a cursor that is refused. */
  readonly advice?: string;
}

/** The section that a page is read from. @throws InvalidInput for a size or a cursor that the list does not have. */
export function sectionOf<Position>(
  input: PageInput,
  { keyset, direction, isVisible = () => true, advice = '' }: KeysetOrder<Position>,
): KeysetSection<Position> {
  const issues = [...pageSizeIssues(input)];
  const [after, before] = (['after', 'before'] as const).map((name) => {
    const cursor = input[name];
    if (cursor == null) return undefined;
    const position = keyset.read(cursor);
    if (position && isVisible(position)) return position;
    issues.push({ path: [name], message: `is not a cursor of this list.${advice}` });
    return undefined;
  });
  if (issues.length > 0) throw new InvalidInput(issues);
  const { size, isBackward } = pageSizeOf(input);
  const [start, end] = isBackward ? [before, after] : [after, before];
  const opposite = direction === 'asc' ? 'desc' : 'asc';
  return { size, isBackward, after, before, start, end, direction: isBackward ? opposite : direction, limit: size + 1 };
}

/** Joins lists that were read in one direction, each in order, into one. */
export function mergeByKeyset<Position, Item extends Position>(
  lists: readonly (readonly Item[])[],
  { compare }: Keyset<Position>,
  direction: 'asc' | 'desc',
): readonly Item[] {
  const [only] = lists;
  if (only && lists.length === 1) return only;
  const sign = direction === 'asc' ? 1 : -1;
  return lists.flat().sort((a, b) => sign * compare(a, b));
}

/** Conditions of Prisma on the columns that a list is ordered by. */
type Condition = Readonly<Record<string, unknown>>;

/** Positions between which rows are read in a direction, both excluded: the values of the columns of the order, in its order. */
interface Between {
  readonly direction: 'asc' | 'desc';
  readonly start?: object | undefined;
  readonly end?: object | undefined;
}

/** The conditions for rows between two positions, as `where` of Prisma takes them in `AND`. */
export function between({ direction, start, end }: Between): Condition[] {
  const [further, back] = direction === 'asc' ? (['gt', 'lt'] as const) : (['lt', 'gt'] as const);
  return [...(start ? beyond(further, start) : []), ...(end ? beyond(back, end) : [])];
}

function beyond(operator: 'gt' | 'lt', position: object): Condition[] {
  const columns = Object.entries(position);
  const either = columns.map(([column, value], index) => ({
    ...Object.fromEntries(columns.slice(0, index)),
    [column]: { [operator]: value },
  }));
  const [first] = columns;
  // Repeated outside the OR: PostgreSQL uses an OR alone only as a filter, and reads from the beginning of the index.
  return first ? [{ [first[0]]: { [`${operator}e`]: first[1] } }, { OR: either }] : [];
}
