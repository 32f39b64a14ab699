import type { Position, SortField } from '../database/queries/user-group-page-query.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { defineKeyset, integerColumn, type Keyset, type KeysetColumn, textColumn, timeColumn } from './keyset.ts';

/** The position of a group in an order, and the environment that the group was in. */
export interface GroupPosition extends Position {
  readonly environmentTag: EnvironmentTag | null;
}

const tagColumn: KeysetColumn<EnvironmentTag | null> = {
  write: (tag) => tag,
  read: (part) => (part === null || part === 'Customer' || part === 'Testing' ? part : undefined),
};

/** @param value of the type of the column, as each position of this order has it. */
const keysetOf = <Value>(sortBy: SortField, value: KeysetColumn<Value>): Keyset<GroupPosition> =>
  defineKeyset(`UserGroup.${sortBy}`, {
    environmentTag: tagColumn,
    value: value as unknown as KeysetColumn<Position['value']>,
    teamId: integerColumn,
  });

/** The orders of lists of groups. A cursor has the environment of its group: only callers with access to it can use it. */
export const userGroupKeysets: Readonly<Record<SortField, Keyset<GroupPosition>>> = {
  createdAt: keysetOf('createdAt', timeColumn),
  updatedAt: keysetOf('updatedAt', timeColumn),
  name: keysetOf('name', textColumn),
  providedId: keysetOf('providedId', textColumn),
};
