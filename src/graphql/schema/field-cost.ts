/** Arguments or variables as they were sent, before they are coerced: their types may be wrong. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = (args: RawVariables): number => (isFiltered(args) ? 300 : 0);

/** Whether a list has a filter, so that finding its items may take up to two seconds. */
export const isFiltered = ({ filter }: RawVariables): boolean => filter != null;

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has. */
  readonly listSize?: (args: RawVariables) => number;
  /**
   * How many items the page of a connection has: so often counts what is selected below its fields that are marked as the page.
   */
  readonly pageSize?: (args: RawVariables) => number;
  /** Whether the database may take so long for it that it must not be read twice for one request. */
  readonly isSlow?: (args: RawVariables) => boolean;
  /** Marks the list of a connection's items. */
  readonly isPage?: true;
}
