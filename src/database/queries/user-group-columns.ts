import type { EnvironmentTag, Prisma, UserGroup } from '../../generated/prisma/client.ts';
import type { Row } from '../text-rows.ts';
import { type Column, columnCount, columnTypes, createRowClass, type ParameterColumn, selectList } from './columns.ts';

const { bytes, integer, text, time } = columnTypes;

const environmentTag = {
  type: 'environment_tag',
  nullable: true,
  decode: (tag: string | null) => tag as EnvironmentTag | null,
} as const;

const json = {
  type: 'json',
  decode: (value: string | null): Prisma.JsonValue => JSON.parse(value as string),
  isKept: true,
} as const;

const nullableJson = {
  type: 'json',
  nullable: true,
  decode: (value: string | null): Prisma.JsonValue => (value === null ? null : JSON.parse(value)),
  isKept: true,
} as const;

/** How statements write a column. */
interface Use {
  /** Whether a new group gives it; otherwise it has the default of the database, or is a time. */
  readonly insert?: true;
  /** Whether an update may change it. */
  readonly update?: true;
}

/**
 * The columns of user groups: the only list of them outside of `schema.prisma`. Select list, insert, update, row type and
 * drafts follow from it; one that is missing does not compile.
 */
const columns = {
  teamId: { sql: 'team_id', ...integer },
  providedId: { sql: 'provided_id', ...text, insert: true },
  environmentTag: { sql: 'environment_tag', ...environmentTag, insert: true },
  name: { sql: 'name', ...text, insert: true, update: true },
  tokenHash: { sql: 'token_hash', ...bytes, insert: true },
  tokenEncrypted: { sql: 'token_encrypted', ...bytes, insert: true },
  properties: { sql: 'properties', ...nullableJson, insert: true, update: true },
  mapping: { sql: 'mapping', ...json, insert: true, update: true },
  createdAt: { sql: 'created_at', ...time },
  updatedAt: { sql: 'updated_at', ...time },
  version: { sql: 'version', ...integer },
} as const satisfies { readonly [Field in keyof UserGroup]: Column<UserGroup[Field]> & ParameterColumn & Use };

type Columns = typeof columns;

/** The fields whose columns statements write in this way. */
type FieldsOf<Way extends keyof Use> = {
  [Field in keyof Columns]: Columns[Field] extends Readonly<Record<Way, true>> ? Field : never;
}[keyof Columns];

/** What a statement takes for a field: JSON as text. */
type Parameter<Field extends keyof Columns> =
  | (Columns[Field] extends { readonly type: 'json' } ? string : Exclude<UserGroup[Field], null>)
  | (Columns[Field] extends { readonly nullable: true } ? null : never);

/** A group to insert; every rule is checked already. */
export type UserGroupDraft = { readonly [Field in FieldsOf<'insert'>]: Parameter<Field> };

/** New values of a group, every rule checked; a field that is omitted or undefined stays as it is. */
export type UserGroupChange = { readonly [Field in FieldsOf<'update'>]?: Parameter<Field> | undefined };

/** A user group as it is stored. JSON and times are decoded when they are read. */
export const UserGroupRow: new (row: Row) => UserGroup = createRowClass(columns);

/** The columns that {@link UserGroupRow} reads, of a table or its alias. */
export const userGroupSelectList = (table: string): string => selectList(columns, table);

/** A user group that was read without its JSON. Properties and mapping throw: what is not read must not pass for empty. */
export const UserGroupSummaryRow: new (row: Row) => UserGroup = createRowClass({
  ...columns,
  properties: { ...columns.properties, decode: notRead },
  mapping: { ...columns.mapping, decode: notRead },
});

/** The columns that {@link UserGroupSummaryRow} reads. */
export const userGroupSummarySelectList = (table: string): string =>
  Object.values(columns)
    .map(({ sql, type }) => (type === 'json' ? 'null' : `${table}.${sql}`))
    .join(', ');

function notRead(): never {
  throw new Error('The JSON of this user group was not read.');
}

/** The columns that {@link UserGroupRow} reads, in its order. */
export const userGroupColumns: readonly string[] = Object.values(columns).map(({ sql }) => sql);

/** How many columns that are: what else a row has follows. */
export const userGroupColumnCount = columnCount(columns);

/** The fields and columns that an insert writes, in the same order. */
export const insertedFields = fieldsOf('insert');
export const insertedColumns = insertedFields.map((field): ParameterColumn => columns[field]);

/**
 * The times that an insert writes besides {@link insertedColumns}, the same in both columns, and what they are selected from. The
 * database's defaults are the time at which the transaction began, as {@link changeTime} is not.
 */
export const insertedTimes = {
  columns: 'created_at, updated_at',
  values: 'clock.at, clock.at',
  from: '(select clock_timestamp() as at) as clock',
} as const;

/**
 * The time of a change, as SQL: the clock's, not that at which the transaction began, which readers of what is new may have
 * passed long ago. Never before the time of the previous change, also when another server's clock is behind.
 */
export const changeTime = (previous: string): string => `greatest(clock_timestamp(), ${previous})`;

/** The fields and columns that an update may change, in the same order. */
export const updatedFields = fieldsOf('update');
export const updatedColumns = updatedFields.map((field): ParameterColumn => columns[field]);

function fieldsOf<Way extends keyof Use>(way: Way): readonly FieldsOf<Way>[] {
  return (Object.keys(columns) as FieldsOf<Way>[]).filter((field) => (columns[field] as Use)[way]);
}
