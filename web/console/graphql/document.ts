/** The text of a GraphQL operation, with the types of its result and its variables. */
export type TypedDocument<Result, Variables> = string & {
  /** Only for the compiler; has no value. */
  readonly __types?: (variables: Variables) => Result;
};

/** Marks the text of an operation with its types. */
export function document<Result, Variables>(text: string): TypedDocument<Result, Variables> {
  return text;
}
