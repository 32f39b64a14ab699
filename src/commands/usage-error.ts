/** A mistake in how a command was called. Its text says what would be right. */
export class UsageError extends Error {}
