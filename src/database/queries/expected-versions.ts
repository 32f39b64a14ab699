import type { UserGroup } from '../../generated/prisma/client.ts';
import type { Row } from '../text-rows.ts';
import { columnTypes } from './columns.ts';
import { UserGroupRow, userGroupColumnCount } from './user-group-columns.ts';

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
