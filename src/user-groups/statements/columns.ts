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

/** What an insert writes, and the columns, in the same order. */
const drafted = storedAttributes.filter(([, { insert }]) => insert);
export const draftFields = drafted.map(([name]) => name) as readonly NamesWith<'insert'>[];
export const draftColumns: readonly ParameterColumn[] = drafted.map(([, attribute]) => attribute);

/** The attributes that an update may change. */
export const updatedAttributes = storedAttributes.filter(([, { update }]) => update) as readonly [
  NamesWith<'update'>,
  StoredAttribute,
][];

/** The greatest version of a user group, that of PostgreSQL's `integer`. After it comes 1 again. */
export const maxVersion = 2 ** 31 - 1;
