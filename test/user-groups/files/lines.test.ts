import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { FormatName } from '../../../src/user-groups/files/formats.ts';
import { readGroupLines } from '../../../src/user-groups/files/formats.ts';

/** The names of ignored fields, as the command prints them, and why the file is refused. */
async function report(format: FormatName, text: string) {
  const ignored: string[] = [];
  const options = { format, environment: null, onIgnored: (name = 'further') => void ignored.push(name) };
  try {
    for await (const _ of readGroupLines(Readable.from([Buffer.from(text)]), options));
    return { ignored, refused: undefined };
  } catch (error) {
    return { ignored, refused: (error as Error).message };
  }
}

/** Moves the cursor of a terminal, ends a line in some, and is very long. */
const hostile = `\u009B2J\u007F\u2028${'z'.repeat(1_000_000)}`;
const shown = `\\u{9b}2J\\u{7f}\\u{2028}${'z'.repeat(59)}…`;

test.each<[string, FormatName, string, Awaited<ReturnType<typeof report>>]>([
  ['an ignored member', 'ndjson', `{"user_group_id":"a","${hostile}":1}`, { ignored: [shown], refused: undefined }],
  ['an ignored column', 'csv', `user_group_id,${hostile}\na,b\n`, { ignored: [shown], refused: undefined }],
  [
    'a repeated column',
    'csv',
    `user_group_id,${hostile},${hostile}\na,b,c\n`,
    { ignored: [], refused: `The first line names the column "${shown}" twice.` },
  ],
])('a name from a file is printed in part, without control characters: %s', async (_, format, text, expected) => {
  expect(await report(format, text)).toEqual(expected);
});

test.each<[name: string, text: string, reasons: readonly string[]]>([
  [
    'not closed',
    'user_group_id,name\na,A\nb,"B\nc,C\nd,D\n',
    ['3: has a quote in field 2 that is not closed. It was read as one record up to line 5.'],
  ],
  ['not closed, in the last line', 'user_group_id\n"b', ['2: has a quote in field 1 that is not closed.']],
  [
    'closed by one that was to begin another field',
    'user_group_id,name\r\nb,"B\r\nc,"C"\r\nd,D\r\n',
    [
      '2: has text after the closing quote of field 2. A quote within a field is written twice. It was read as one record up to line 3.',
    ],
  ],
  [
    'not closed, in more than 4 MiB',
    `user_group_id\n"b\n${'c\n'.repeat(2 ** 21)}`,
    [
      `2: is longer than 4 MiB. In CSV, check that every quoted field is closed. It was read as one record up to line ${2 + 2 ** 21}.`,
    ],
  ],
])('a quote that is %s: the reason names the last line that it takes', async (_, text, reasons) => {
  const rejected: string[] = [];
  const options = { format: 'csv', environment: null, onIgnored: () => {} } as const;
  for await (const lines of readGroupLines(Readable.from([Buffer.from(text)]), options))
    for (const { read } of lines) if ('reason' in read) rejected.push(`${read.line}: ${read.reason}`);
  expect(rejected).toEqual(reasons);
});

test.each([
  ['with another order', 'user_group_id,name\nname,N\nname,user_group_id\nB,b\n'],
  ['with a column that groups do not have', 'user_group_id,name,region\nname,N,eu\nuser_group_id,name,region\nB,b,us\n'],
  ['with a byte order mark', 'user_group_id,name\nname,N\n\ufeffuser_group_id,name\nB,b\n'],
  ['of one column', 'providedId\nname\nprovidedId\nB\n'],
])('files that were joined: the names of the columns are no group: %s', async (_, text) => {
  const read: string[] = [];
  const options = { format: 'csv', environment: null, onIgnored: () => {} } as const;
  for await (const lines of readGroupLines(Readable.from([Buffer.from(text)]), options))
    for (const { read: line } of lines) read.push('reason' in line ? `${line.line}: ${line.reason}` : 'read');
  const reason = 'names a column, as the first line does. Import files that were joined one by one.';
  expect(read).toEqual(['read', `3: ${reason}`, 'read']);
});
