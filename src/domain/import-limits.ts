/** The limits of the files that `groups import` reads. */
export const importLimits = {
  /** The size of one line in bytes, or of one CSV record, which may span lines. Every user group that is exported fits. */
  maxLineBytes: 4_194_304,
  /** The columns of a CSV file. */
  maxColumns: 100,
} as const;

/** How many lines are written in one transaction, and how many bytes of them: enough that the rate no longer grows. */
export const importBatch = { maxLines: 1_000, maxBytes: 4_194_304 } as const;
