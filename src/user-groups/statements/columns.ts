import {
  type Column,
  columnCount,
  columnTypes,
  createRowClass,
  type ParameterColumn,
  type Row,
  selectList,
} from '../../database/columns.ts';
import type { EnvironmentTag, Prisma, UserGroup } from '../../generated/prisma/client.ts';

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

/** The greatest version of a user group, that of PostgreSQL's `integer`. */
export const maxVersion = 2 ** 31 - 1;

/**
 * The version after some changes, as SQL. After the greatest one it is 1 again, because all that counts is that it differs from
 * the one that was read: an error would keep the group from ever being changed.
 */
export const versionAfter = (version: string, changes = '1'): string =>
  `((${version}::bigint + ${changes} - 1) % ${maxVersion} + 1)::int`;

/** The version after one change. */
export const nextVersion = (version: number): number => (version % maxVersion) + 1;

/** A write that may depend on the version of its group. */
export interface Expecting {
  /** The group must have one of these versions, of 1 to {@link maxVersion}; undefined permits any. */
  readonly expectedVersions?: readonly number[] | undefined;
}

/** Why a write changed nothing: the group, as it is, has none of the expected versions. */
export interface OtherVersion {
  readonly current: UserGroup;
}

/** The group of a write that was made, or why it was not. */
export type Expected = { readonly userGroup: UserGroup } | OtherVersion;

/** Whether a version is expected, as SQL. @param versions the expected ones as `int[]`; null permits any. */
export const isExpected = (version: string, versions: string): string => `coalesce(${version} = any (${versions}), true)`;

/** Reads a row of a group and, as the next column, whether its version was expected. */
export function toExpected(row: Row): Expected {
  const group = new UserGroupRow(row);
  return columnTypes.boolean.decode(row[userGroupColumnCount] as string) ? { userGroup: group } : { current: group };
}
