/** Arguments or variables as they were sent, before they are coerced: their types may be wrong. */
export type RawVariables = Readonly<Record<string, unknown>>;

/** What a field of the root type costs beyond the 1 of every field: it asks the database for something. */
export const lookUpCost = 20;

/** What a field may say of its cost, in its `extensions`. */
export interface FieldCost {
  /** What resolving it costs beyond the 1 of every field. */
  readonly cost?: (args: RawVariables) => number;
  /** How many items its list has. */
  readonly listSize?: (args: RawVariables) => number;
}
