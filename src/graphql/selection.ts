/** Arguments as the document has them: unchecked, and with a symbol in the place of each variable. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a root field costs beyond the 1 of every field, because it queries the database. */
export const lookUpCost = 20;

/** What a list with the argument `filter` costs: a filtered page may take as long as many look-ups. */
export const filterCost = ({ filter }: RawVariables): number => (filter == null ? 0 : 300);

/** The cost of a field, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has, at most. */
  readonly listSize?: (args: RawVariables) => number;
  /** How many items the page of a connection has, at most: what is below its fields with {@link isPage} counts so often. */
  readonly pageSize?: (args: RawVariables) => number;
  readonly isPage?: true;
  /** How many values of up to 64 KiB it has. */
  readonly heavy?: number;
}
