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
