import type { UserGroup } from '../../generated/prisma/client.ts';
import type { Row } from '../text-rows.ts';
import { columnTypes } from './columns.ts';
import { UserGroupRow, userGroupColumnCount } from './user-group-columns.ts';

/** A write that may depend on the version of its group. */
export interface Expecting {
  /** The group must have one of these versions, of 1 to 2,147,483,647; undefined permits any. */
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
