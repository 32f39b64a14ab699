import {
  type Column,
  columnCount,
  columnTypes,
  createRowClass,
  type ParameterColumn,
  type Row,
  selectList,
} from '../../database/columns.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { storedAttributes } from '../attribute-values.ts';
import type { NamesWith, ParameterOf, StoredAttribute } from '../attributes.ts';

/** How a column of a type is decoded. */
const decoders = {
  bool: columnTypes.boolean,
  bytea: columnTypes.bytes,
  environment_tag: columnTypes.text,
  int: columnTypes.nullableInteger,
  json: columnTypes.json,
  text: columnTypes.text,
  timestamptz: columnTypes.nullableTime,
} as const satisfies Readonly<Record<StoredAttribute['type'], Omit<Column, 'sql'>>>;

const columns: Readonly<Record<string, Column & ParameterColumn>> = Object.fromEntries(
  storedAttributes.map(([name, attribute]) => [name, { ...decoders[attribute.type], ...attribute }]),
);

/** A group to insert; every rule is checked already. */
export type UserGroupDraft = { readonly [Name in NamesWith<'insert'>]: ParameterOf<Name> };

/** New values of a group, every rule checked; a field that is omitted or undefined stays as it is. */
export type UserGroupChange = { readonly [Name in NamesWith<'update'>]?: ParameterOf<Name> | undefined };

/** A user group as it is stored. JSON and times are decoded when they are read. */
export const UserGroupRow = createRowClass(columns) as unknown as new (row: Row) => UserGroup;

/** The columns that {@link UserGroupRow} reads, of a table or its alias. */
export const userGroupSelectList = (table: string): string => selectList(columns, table);

/** A user group that was read without its JSON. Properties and mapping throw: what is not read must not pass for empty. */
export const UserGroupSummaryRow = createRowClass(
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.type === 'json' ? { ...column, decode: notRead } : column]),
  ),
) as unknown as new (
  row: Row,
) => UserGroup;

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

/** The attributes that an insert writes, and their columns, in the same order. */
const inserted = storedAttributes.filter(([, { insert }]) => insert);
export const insertedFields = inserted.map(([name]) => name) as readonly NamesWith<'insert'>[];
export const insertedColumns: readonly ParameterColumn[] = inserted.map(([, attribute]) => attribute);

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

/** The attributes that an update may change. */
export const updatedAttributes = storedAttributes.filter(([, { update }]) => update) as readonly [
  NamesWith<'update'>,
  StoredAttribute,
][];

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
