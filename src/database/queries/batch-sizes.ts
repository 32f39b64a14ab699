/** The most keys of a look-up: enough for every request of a turn, small enough not to hold up other statements. */
export const maxLookupKeys = 512;

/** The most rows of a write. Fewer than of a look-up, because each row is locked until all of them are written. */
export const maxWriteKeys = 128;
