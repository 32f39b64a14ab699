/** The limits of the files that `groups import` reads. */
export const importLimits = {
  /** The size of one line in bytes, or of one CSV record, which may span lines. Every user group that is exported fits. */
  maxLineBytes: 4_194_304,
  /** The columns of a CSV file. */
  maxColumns: 100,
  /** The rejected lines that are printed one by one. */
  maxPrintedRejections: 100,
  /** The reasons whose rejected lines are counted one by one. */
  maxCountedReasons: 50,
} as const;

/** How many lines are written in one transaction at most, and how many bytes of them, unless one line has more. */
export const importBatch = { maxLines: 1_000, maxBytes: 1_048_576 } as const;
