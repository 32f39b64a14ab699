import { createHash } from 'node:crypto';

/** What a cursor consists of: the list's own description of a position. */
export type CursorPart = string | number | null;

/** The longest cursor: a text of 255 characters, each of which JSON escapes, and what goes with it. */
const maxCursorLength = 2_560;

const checksumBytes = 8;

/**
 * Makes a cursor, which callers take as opaque: a checksum and the parts. It holds only what the caller may read, and gives
 * access to nothing: a page is read with the rights of the caller who sends the cursor.
 *
 * @param list the name of the list and its order; a cursor of another list is refused.
 */
export function encodeCursor(list: string, parts: readonly CursorPart[]): string {
  const payload = Buffer.from(JSON.stringify([list, ...parts]));
  return Buffer.concat([checksum(payload), payload]).toString('base64url');
}

/** The parts of a cursor of this list; undefined when the text was not made by {@link encodeCursor} for it. */
export function decodeCursor(list: string, cursor: string): CursorPart[] | undefined {
  if (cursor.length > maxCursorLength) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  const payload = bytes.subarray(checksumBytes);
  // The decoder skips what is not base64url, so that other texts may decode to the same bytes.
  if (bytes.toString('base64url') !== cursor || !checksum(payload).equals(bytes.subarray(0, checksumBytes))) return undefined;
  const [name, ...parts] = parseList(payload.toString());
  return name === list && parts.every(isPart) ? parts : undefined;
}

const checksum = (payload: Buffer): Buffer => createHash('sha256').update(payload).digest().subarray(0, checksumBytes);

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

const isPart = (value: unknown): value is CursorPart => value === null || typeof value === 'string' || typeof value === 'number';
