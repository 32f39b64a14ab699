/** Invalid command-line arguments. The message says what is expected. */
export class UsageError extends Error {}
