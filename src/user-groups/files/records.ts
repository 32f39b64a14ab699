import { isUtf8 } from 'node:buffer';
import { importLimits } from '../import-lines.ts';

/**
 * Splits a record of CSV (RFC 4180) into its fields: separated by commas, those in quotes with `""` for a quote. Linear in the
 * length of the text.
 *
 * @param maxFields parsing stops after one more.
 * @returns the fields, or why it is not a record, as the end of a sentence.
 */
export function parseCsvRecord(
  text: string,
  maxFields: number,
): { readonly fields: readonly string[]; readonly problem: string | undefined } {
  const fields: string[] = [];
  const rejected = (problem: string) => ({ fields: [], problem });
  for (let at = 0; ; at += 1) {
    if (fields.length === maxFields) return rejected(`has more than ${maxFields} fields.`);
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    const number = fields.length + 1;
    if (field.end < 0) return rejected(`has a quote in field ${number} that is not closed.`);
    if (field.end < text.length && text[field.end] !== ',')
      return rejected(`has text after the closing quote of field ${number}. A quote within a field is written twice.`);
    if (field.hasQuote) return rejected(`has a quote in field ${number}, which must then be in quotes itself.`);
    if (field.hasCarriageReturn)
      return rejected(`has a carriage return in field ${number}, which must then be in quotes. Lines end with LF or CR LF.`);
    fields.push(field.value);
    at = field.end;
    if (at >= text.length) return { fields, problem: undefined };
  }
}

interface Field {
  readonly value: string;
  /** The position after the field; -1 when it does not end. */
  readonly end: number;
  /** Whether it has a quote although it is not in quotes. */
  readonly hasQuote: boolean;
  /** Whether it has a carriage return although it is not in quotes: another program would read two records. */
  readonly hasCarriageReturn: boolean;
}

function plainField(text: string, start: number): Field {
  const comma = text.indexOf(',', start);
  const end = comma < 0 ? text.length : comma;
  const value = text.slice(start, end);
  return { value, end, hasQuote: value.includes('"'), hasCarriageReturn: value.includes('\r') };
}

const inQuotes = { hasQuote: false, hasCarriageReturn: false } as const;

function quotedField(text: string, start: number): Field {
  let value = '';
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return { value, end: -1, ...inQuotes };
    if (text[quote + 1] !== '"') return { value: value + text.slice(from, quote), end: quote + 1, ...inQuotes };
    value += text.slice(from, quote + 1);
    from = quote + 2;
  }
}

/** A record of CSV with the line break that ends it, CR LF as RFC 4180 has it. */
export function toCsvRecord(fields: readonly string[]): string {
  return `${fields.map(quoteIfNeeded).join(',')}\r\n`;
}

const quoteIfNeeded = (field: string): string => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);

/** One line of a file, or one CSV record, which may span lines. */
export interface SourceRecord {
  /** The number of its first line, from 1. */
  readonly line: number;
  /** The number of its last line. */
  readonly lastLine: number;
  /** Its size in the file, with what ends it. */
  readonly bytes: number;
  /** Whether a line break ends it. */
  readonly isEnded: boolean;
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
    const record = bytes === 0 ? undefined : { line, lastLine, isEnded: breakBytes > 0, ...toRecord(bytes, breakBytes, parts) };
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

function toRecord(
  contentBytes: number,
  breakBytes: number,
  parts: readonly Buffer[],
): Pick<SourceRecord, 'bytes' | 'text' | 'problem'> {
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
