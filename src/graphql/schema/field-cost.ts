/** Arguments or variables as they were sent, before they are coerced: their types may be wrong. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = ({ filter }: RawVariables): number => (filter == null ? 0 : 300);

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has. */
  readonly listSize?: (args: RawVariables) => number;
  /** How many items the page of a connection has: so often counts what is selected below its fields that are marked as the page. */
  readonly pageSize?: (args: RawVariables) => number;
  /** Marks the list of a connection's items. */
  readonly isPage?: true;
}
