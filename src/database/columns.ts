/** One column of the rows that a statement takes as parameters. */
export interface ParameterColumn {
  readonly sql: string;
  /** Its type in PostgreSQL. */
  readonly type: string;
  readonly nullable?: boolean;
}

/**
 * Parameters as a table: `unnest((select $1::text[]), …) as alias (name, …)`, one list per column, as {@link toLists} makes them.
 * PostgreSQL plans for as many rows whatever is sent, and so keeps its plan. Of a list that it sees it knows the length, and
 * would plan a change of one row each time, which takes longer than the change.
 *
 * A look-up joins it with `cross join lateral (select … limit 1)`: where `enable_seqscan` is off, each row is read by the index,
 * whatever the statistics say. Another join that was planned for a small table would read all of it once it has grown.
 */
export function unnest(columns: readonly ParameterColumn[], alias: string): string {
  return `unnest(${lists(columns)}) as ${alias} (${names(columns)})`;
}

/** A list as a parameter of a condition: `column = any ($1)`. Planned for as many rows whatever is sent, as {@link unnest} is. */
export const anyOf = (parameter: number, type: string): string => `any ((select $${parameter}::${type}[])::${type}[])`;

const lists = (columns: readonly ParameterColumn[]): string =>
  columns.map(({ type }, index) => `(select $${index + 1}::${type}[])`).join(', ');

/** The names of columns as a list in SQL. */
export const names = (columns: readonly ParameterColumn[]): string => columns.map(({ sql }) => sql).join(', ');

/** The values of each field, as the parameters of {@link unnest}. */
export function toLists<Item>(fields: readonly (keyof Item)[], items: readonly Item[]): Item[keyof Item][][] {
  return fields.map((field) => items.map((item) => item[field]));
}

/** Bytes in hexadecimal as one parameter of type `bytea[]`, which takes the driver less time than a list of buffers. */
export const toByteaArray = (hexadecimals: readonly string[]): string =>
  `{${hexadecimals.map((hexadecimal) => `"\\\\x${hexadecimal}"`).join(',')}}`;
