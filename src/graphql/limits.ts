/**
 * The limits of a GraphQL request, each checked before the work that it bounds. docs/limits.md lists the same figures.
 */
export const graphqlLimits = {
  /** Tokens (names, values, punctuation) of a document. Introspection as common clients send it has about 200. */
  maxTokens: 2_000,
  /** Characters and lines of a document. Each error in it is located by counting lines. */
  maxDocumentCharacters: 65_536,
  maxDocumentLines: 2_000,
  /** Nested brackets of a document, those of its values included. */
  maxNesting: 256,
  /** Nested selection sets of an operation, those of its fragments included. */
  maxDepth: 30,
  /**
   * How often one response name may occur in one selection set, including its fragments. Validation compares each pair of them.
   */
  maxRepeatedFields: 100,
  /** Characters of an alias, or of a field's name. */
  maxNameLength: 128,
  /** Fragment spreads of a document. */
  maxFragmentSpreads: 200,
  /** The cost of an operation, in the unit that `cost.ts` defines. */
  maxCost: 30_000,
  /** Fields of the items of lists, for lists that turn out longer than their estimate. */
  maxResolvedFields: 131_072,
  /** The size of a response body, in bytes. */
  maxResponseBytes: 16 * 1024 * 1024,
  /** Errors of one response about the document or its variables, and characters of one error's message. */
  maxErrors: 10,
  maxMessageLength: 1_000,
  /** Characters of an `Accept` header. */
  maxAcceptLength: 1_024,
} as const;

/** From this cost on, executions are queued instead of starting at once, so that other requests are served in between. */
export const heavyCost = 2_000;

/** From this length on, in characters, documents that are not cached are queued before they are parsed and validated. */
export const longDocumentLength = 2_000;

/**
 * The limits of the files in `PERSISTED_OPERATIONS`, each checked before the gateway starts and after a change. docs/limits.md
 * lists the same figures.
 */
export const persistedOperationsLimits = {
  /** The size of the files, in bytes. */
  maxPersistedFileBytes: 8 * 1024 * 1024,
  /** Documents in the files. */
  maxPersistedOperations: 5_000,
  /** Problems that are listed. */
  maxPersistedProblems: 100,
} as const;
