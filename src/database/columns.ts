import pg from 'pg';

/** A row as PostgreSQL writes it: each column as text, or null. */
export type Row = readonly (string | null)[];

const asText = (text: string): string => text;

/**
 * The options of a statement whose rows stay text, so that a column is decoded only if it is read. To skip the descriptions of
 * the columns, too, takes private methods of the driver and saves too little for that: bench/tried.md.
 */
export const textRows = { rowMode: 'array', types: { getTypeParser: () => asText } } as const;

/** The types of rows as objects: a `bigint` is a BigInt, all else as the driver has it. */
export const objectRows: { readonly types: pg.CustomTypesConfig } = {
  types: { getTypeParser: (type) => (type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type)) },
};

/** Reads a `timestamptz` column. */
const decodeTime: (text: string) => Date = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

/** Reads a `bytea` column, in either format that `bytea_output` selects. */
export const decodeBytes: (text: string) => Buffer<ArrayBuffer> = pg.types.getTypeParser(pg.types.builtins.BYTEA);

/** Reads a `bytea` column as hexadecimal digits. By default PostgreSQL writes these after `\x`; the other format has no `\x`. */
export const decodeHexadecimal = (text: string): string =>
  text.startsWith('\\x') ? text.slice(2) : decodeBytes(text).toString('hex');

/** One column of the rows that a statement returns. */
export interface Column<Value = unknown> {
  /** Its name, or an SQL expression. */
  readonly sql: string;
  /** Converts what PostgreSQL sent. */
  readonly decode: (text: string | null) => Value;
  /** Whether the decoded value is kept, because decoding takes long: a request may read the field of one row many times. */
  readonly isKept?: boolean;
}

/** The columns of an entity by the names of its fields, in the order of the select list. */
export type ColumnTable = Readonly<Record<string, Column>>;

/** The fields of an entity, decoded. */
export type RowOf<Columns extends ColumnTable> = {
  readonly [Field in keyof Columns]: ReturnType<Columns[Field]['decode']>;
};

/** One column of the rows that a statement takes as parameters. */
export interface ParameterColumn {
  readonly sql: string;
  /** Its type in PostgreSQL. */
  readonly type: string;
  readonly nullable?: boolean;
}

/**
 * The types of columns: how a value is sent, and how it is read. JSON is sent as text, so that nothing interprets it on the way.
 */
export const columnTypes = {
  integer: { type: 'int', decode: (text: string | null): number => Number(text) },
  nullableInteger: {
    type: 'int',
    nullable: true,
    decode: (text: string | null): number | null => (text === null ? null : Number(text)),
  },
  boolean: { type: 'bool', decode: (text: string | null): boolean => text === 't' },
  text: { type: 'text', decode: (text: string | null): string => text as string },
  json: { type: 'json', decode: (json: string | null): unknown => (json === null ? null : JSON.parse(json)), isKept: true },
  bytes: { type: 'bytea', decode: (text: string | null): Buffer<ArrayBuffer> => decodeBytes(text as string) },
  time: { type: 'timestamptz', decode: (text: string | null): Date => decodeTime(text as string) },
  nullableTime: {
    type: 'timestamptz',
    nullable: true,
    decode: (text: string | null) => (text === null ? null : decodeTime(text)),
  },
} as const;

/** The select list of an entity. @param table the table or its alias, for columns that are plain names. */
export function selectList(columns: ColumnTable, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`;
  return Object.values(columns)
    .map(({ sql }) => prefix + sql)
    .join(', ');
}

/** How many columns the select list has: what a row has beyond them follows. */
export const columnCount = (columns: ColumnTable): number => Object.keys(columns).length;

/**
 * Creates the class of an entity's rows. A row is kept as text, and a field is decoded each time it is read: most responses
 * contain neither times nor JSON, so that decoding all of them would cost more than everything else about a row.
 * Requests that are in flight at once may share a row: its values must not be changed.
 */
export function createRowClass<Columns extends ColumnTable>(columns: Columns): new (row: Row) => RowOf<Columns> {
  class EntityRow {
    readonly row: Row;

    constructor(row: Row) {
      this.row = row;
    }
  }
  for (const [index, [field, { decode, isKept }]] of Object.entries(columns).entries()) {
    Object.defineProperty(EntityRow.prototype, field, {
      get(this: EntityRow) {
        const value = decode(this.row[index] as string | null);
        if (isKept) Object.defineProperty(this, field, { value });
        return value;
      },
    });
  }
  return EntityRow as unknown as new (
    row: Row,
  ) => RowOf<Columns>;
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
