import type { EnvironmentTag, Prisma } from '../../generated/prisma/client.ts';

/** The columns that groups can be sorted by. */
export type SortField = 'createdAt' | 'updatedAt' | 'name' | 'providedId';

/** The position of a group in an order: its sort value, and its number among those with the same one. */
export interface Position {
  readonly teamId: number;
  /** Of the type of the column. Texts are in the order of their code points. */
  readonly value: Date | string;
}

/** From `from`, which is included, to `to`, which is not. */
export interface TimeRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Conditions that must all hold; every rule is checked already. */
export interface GroupConditions {
  /** A part of the name or the provided id; upper and lower case are the same, as the database's locale has it. */
  readonly search?: string | undefined;
  readonly providedIds?: readonly string[] | undefined;
  /** Properties at a path, with the JSON that they equal. Order of members and notation of numbers do not matter. */
  readonly properties?: readonly { readonly path: readonly string[]; readonly equals: string }[] | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly updatedAt?: TimeRange | undefined;
}

/** Groups of one environment, in order. */
export interface PageQuery {
  readonly environmentTag: EnvironmentTag | null;
  readonly sortBy: SortField;
  readonly direction: 'asc' | 'desc';
  /** Positions between which the groups are in this direction, both excluded. */
  readonly start?: Position | undefined;
  readonly end?: Position | undefined;
  readonly limit: number;
}

/** Those of them that meet conditions. */
export interface MatchQuery extends PageQuery {
  readonly conditions: GroupConditions;
}

/** What matches are read with: Prisma, or a transaction. */
export type MatchReader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The column of each sort field. */
export const sortColumns = {
  createdAt: { sql: 'created_at', type: 'timestamptz' },
  updatedAt: { sql: 'updated_at', type: 'timestamptz' },
  name: { sql: 'name', type: 'text' },
  providedId: { sql: 'provided_id', type: 'text' },
} as const satisfies Readonly<Record<SortField, { readonly sql: string; readonly type: string }>>;

/** The operators of each direction. */
export const directions = {
  asc: { order: 'asc', further: '>', back: '<' },
  desc: { order: 'desc', further: '<', back: '>' },
} as const;
