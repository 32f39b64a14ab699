/** The codes of errors for a lack of space, and for the limit of a user. */
const noSpace: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT'];

/** The codes of system errors that are of the connection to PostgreSQL. */
const connectionErrors: readonly (string | undefined)[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * What a failure to write a backup, or to restore one, means to the operator.
 *
 * @param folder what was being written.
 * @param left the folders with what was written that could not be removed.
 */
export function describeWriteFailure(error: unknown, folder: string, left: readonly string[]): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const isOfFile = code !== undefined && syscall !== undefined && !connectionErrors.includes(code);
  if (!isOfFile) return left.length === 0 ? error : new Error(`${message} ${describeLeft(left)}`, { cause: error });
  const removal = left.length === 0 ? 'What was written was removed.' : describeLeft(left);
  const text = noSpace.includes(code)
    ? `No space is left for ${folder}. ${removal} Free space, or choose another file system.`
    : `${folder} could not be written completely: ${message}. ${removal}`;
  return new Error(text, { cause: error });
}

/** What to do about folders that could not be removed. */
export const describeLeft = (folders: readonly string[]): string =>
  `Delete ${folders.join(' and ')}, which could not be removed.`;
