import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  csvBoundaries,
  lineBoundaries,
  parseCsvRecord,
  readRecords,
  type SourceRecord,
  toCsvRecord,
} from '../../../src/user-groups/files/records.ts';
import { importLimits } from '../../../src/user-groups/import-lines.ts';

const { maxLineBytes } = importLimits;

async function recordsOf(chunks: readonly Buffer[], boundaries = csvBoundaries): Promise<SourceRecord[]> {
  async function* each() {
    yield* chunks;
  }
  const all: SourceRecord[] = [];
  for await (const records of readRecords(each(), boundaries())) all.push(...records);
  return all;
}

/** Splits bytes into pieces of a length. */
const pieces = (bytes: Buffer, length: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) => bytes.subarray(index * length, (index + 1) * length));

const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', ' ', 'a', 'é', '😀', '\uFEFF', '\u2028', '='), maxLength: 12 }),
);
const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 6 }), { minLength: 1, maxLength: 8 });

test('what is written is read back, however it is cut into chunks, and as csv-parse reads it', async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 9 }), async (rows, length) => {
      const text = rows.map(toCsvRecord).join('');
      const records = await recordsOf(pieces(Buffer.from(text), length));
      const read = records.map((record) => parseCsvRecord(record.text ?? '', 10).fields);
      const expected = rows.map((row) => row.map((value) => value.toWellFormed()));
      // A mark at the very beginning is one of the byte order, for both.
      const withoutMark = text.startsWith('\uFEFF')
        ? [[expected[0]?.[0]?.slice(1), ...(expected[0]?.slice(1) ?? [])], ...expected.slice(1)]
        : expected;
      expect(read).toEqual(withoutMark);
      expect(read).toEqual(parse(Buffer.from(text), { bom: true, record_delimiter: '\r\n', relax_column_count: true }));
    }),
  );
});

test.each<[name: string, text: string, problem: RegExp | readonly string[]]>([
  ['empty fields', ',,', ['', '', '']],
  ['spaces, which are kept', ' a , b ', [' a ', ' b ']],
  ['quotes', '"a""b",""', ['a"b', '']],
  ['a quote that is not closed', 'a,"b', /^has a quote in field 2 that is not closed/],
  ['text after a closing quote', '"a"b,c', /^has text after the closing quote of field 1/],
  ['a quote within a field', 'a"b,c', /^has a quote in field 1, which must then/],
  ['a carriage return in quotes', '"a\rb",c', ['a\rb', 'c']],
  ['a carriage return without quotes', 'a,b\rc', /^has a carriage return in field 2, .* Lines end with LF or CR LF/],
  ['too many fields', 'a,b,c,d,e', /^has more than 4 fields/],
])('parses %s', (_, text, expected) => {
  const { fields, problem } = parseCsvRecord(text, 4);
  if (expected instanceof RegExp) expect(problem).toMatch(expected);
  else expect({ fields, problem }).toEqual({ fields: expected, problem: undefined });
});

describe('records', () => {
  test('have the number of their first line, with lines in quotes and empty ones counted', async () => {
    const text = 'a,b\r\n"1\n2\n3",x\n\n\r\ny,z';
    const records = await recordsOf(pieces(Buffer.from(text), 3));
    expect(records.map(({ line, text }) => [line, text])).toEqual([
      [1, 'a,b'],
      [2, '"1\n2\n3",x'],
      [7, 'y,z'],
    ]);
  });

  test('a byte order mark is skipped, and UTF-16 refused', async () => {
    const [record] = await recordsOf(pieces(Buffer.from('\uFEFFa,b'), 2));
    expect(record?.text).toBe('a,b');
    await expect(recordsOf([Buffer.from('\uFEFFa,b', 'utf16le')])).rejects.toThrow('The file is in UTF-16');
  });

  test('one that is not UTF-8 is rejected, and the next one read', async () => {
    const records = await recordsOf([Buffer.from([0x61, 0xff, 0x0a, 0x62, 0x0a])], lineBoundaries);
    expect(records.map(({ line, text, problem }) => [line, text, problem])).toEqual([
      [1, undefined, 'is not valid UTF-8.'],
      [2, 'b', undefined],
    ]);
  });

  test.each([
    ['a line', lineBoundaries, ''],
    ['a quoted field', csvBoundaries, '"'],
  ])('%s over the limit is rejected, and the next record read', async (_, boundaries, quote) => {
    const block = Buffer.alloc(65_536, quote ? 'x\n' : 'x');
    const count = maxLineBytes / block.length;
    const chunks = [Buffer.from(`a${quote && ','}${quote}`), ...Array(count).fill(block), Buffer.from(`${quote}\nnext\n`)];
    const records = await recordsOf(chunks, boundaries);
    const line = quote ? 2 + (count * block.length) / 2 : 2;
    expect(records.map(({ line, text, problem }) => [line, text, problem?.slice(0, 24)])).toEqual([
      [1, undefined, 'is longer than 4 MiB. In'],
      [line, 'next', undefined],
    ]);
  });

  test('a line of exactly the limit is read', async () => {
    const [record] = await recordsOf([Buffer.alloc(maxLineBytes, 'x'), Buffer.from('\n')], lineBoundaries);
    expect(record?.text).toHaveLength(maxLineBytes);
  });
});
