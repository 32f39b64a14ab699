import { isUtf8 } from 'node:buffer';
import { importLimits } from '../domain/import-limits.ts';

/** One line of a file, or one CSV record, which may span lines. */
export interface SourceRecord {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** The number of its last line. */
  readonly lastLine: number;
  /** Its size in the file, with what ends it. */
  readonly bytes: number;
  /** Its text, without what ends it; none when it cannot be read. */
  readonly text: string | undefined;
  /** Why it cannot be read. */
  readonly problem: string | undefined;
}

/** Finds where records end. */
export interface RecordBoundaries {
  /** The position of the line break that ends the current record, from `from` on; -1 when the chunk does not end it. */
  findEnd(chunk: Buffer, from: number): number;
  /** How many lines the record has that just ended. */
  lines(): number;
}

/** Every line is a record. */
export const lineBoundaries = (): RecordBoundaries => ({
  findEnd: (chunk, from) => chunk.indexOf(lineFeed, from),
  lines: () => 1,
});

const [lineFeed, quote, comma] = [0x0a, 0x22, 0x2c];

/** Records of CSV: a line break between quotes ends none. A quote begins a quoted field only at the beginning of a field. */
export function csvBoundaries(): RecordBoundaries {
  let state: 'start' | 'plain' | 'quoted' | 'afterQuote' = 'start';
  let inner = 0;
  return {
    findEnd(chunk, from) {
      for (let at = from; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (state === 'quoted') {
          if (byte === quote) state = 'afterQuote';
          else if (byte === lineFeed) inner += 1;
        } else if (byte === lineFeed) {
          state = 'start';
          return at;
        } else if (byte === comma) state = 'start';
        else if (byte === quote && state !== 'plain') state = 'quoted';
        else state = 'plain';
      }
      return -1;
    },
    lines() {
      const lines = 1 + inner;
      inner = 0;
      return lines;
    },
  };
}

/**
 * Splits a file into records, those that end in each chunk; ones without any character are left out. Between chunks keeps one
 * record in memory at most, and of a record that is too long nothing. A byte order mark at the beginning is skipped.
 *
 * @throws Error when the text is UTF-16.
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  { findEnd, lines }: RecordBoundaries,
): AsyncGenerator<readonly SourceRecord[]> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let line = 1;
  let lastByte: number | undefined;
  const append = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= importLimits.maxLineBytes) parts.push(part);
    else parts = [];
  };
  const end = (breakBytes: number): SourceRecord | undefined => {
    const next = line + lines();
    // A quote that is not closed takes the line break at the end of the file, too.
    const lastLine = breakBytes === 0 && lastByte === lineFeed ? next - 2 : next - 1;
    const record = bytes === 0 ? undefined : { line, lastLine, ...toRecord(bytes, breakBytes, parts) };
    line = next;
    parts = [];
    bytes = 0;
    return record?.text === '' ? undefined : record;
  };

  for await (const chunk of withoutMark(chunks)) {
    const records: SourceRecord[] = [];
    let from = 0;
    for (let to = findEnd(chunk, from); to >= 0; to = findEnd(chunk, from)) {
      append(chunk.subarray(from, to));
      const record = end(1);
      if (record) records.push(record);
      from = to + 1;
    }
    append(chunk.subarray(from));
    lastByte = chunk.at(-1);
    yield records;
  }
  const last = end(0);
  if (last) yield [last];
}

function toRecord(contentBytes: number, breakBytes: number, parts: readonly Buffer[]): Omit<SourceRecord, 'line' | 'lastLine'> {
  const bytes = contentBytes + breakBytes;
  const rejected = (problem: string) => ({ bytes, text: undefined, problem });
  if (contentBytes > importLimits.maxLineBytes) {
    return rejected(
      `is longer than ${importLimits.maxLineBytes / 2 ** 20} MiB. In CSV, check that every quoted field is closed.`,
    );
  }
  const [first = Buffer.alloc(0)] = parts;
  const content = parts.length === 1 ? first : Buffer.concat(parts);
  if (!isUtf8(content)) return rejected('is not valid UTF-8.');
  const text = content.toString('utf8');
  return { bytes, text: text.endsWith('\r') ? text.slice(0, -1) : text, problem: undefined };
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!head) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < utf8Mark.length) continue;
      yield skipMark(head);
      head = undefined;
    }
  }
  if (head) yield skipMark(head);
}

function skipMark(head: Buffer): Buffer {
  if (head.length >= 2 && ['fffe', 'feff'].includes(head.toString('hex', 0, 2))) {
    throw new Error('The file is in UTF-16. Save it as UTF-8; in Excel, as "CSV UTF-8".');
  }
  return head.subarray(0, 3).equals(utf8Mark) ? head.subarray(3) : head;
}
