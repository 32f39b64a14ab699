import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileFields } from '../../src/user-groups/files.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { exportText, importText } from '../support/group-files.ts';
import { storedToken } from '../support/keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Characters that formats, terminals and parsers give a meaning. */
const strange = fc.constantFrom(...'"\',;\\\r\n\t =+-@#{}[]\u0001\u007f\u0085\u2028\uFEFF', 'é', '漢', '😀', 'a', 'Z', '0');
const text = (most: number) => fc.string({ unit: strange, minLength: 1, maxLength: most });
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('__proto__'));
const token = fc.string({ unit: fc.constantFrom(...'"\',;\\ =+-@#{}[]<>&é漢aZ09'), minLength: 16, maxLength: 40 });
const name = fc.string({ unit: fc.constantFrom(...'"\',;\\ =+-@#{}[]é漢aZ09', '😀'), minLength: 1, maxLength: 20 });
const line = fc.record({
  user_group_id: name,
  environment: fc.constantFrom('Customer', 'Testing'),
  name,
  token,
  mapping: fc.dictionary(text(8), text(8), { maxKeys: 5, noNullPrototype: true }),
  properties: fc.oneof(fc.constant(null), fc.dictionary(text(8), json, { maxKeys: 5, noNullPrototype: true })),
  status: fc.constantFrom('active', 'suspended'),
});
const lines = fc.uniqueArray(line, {
  minLength: 1,
  maxLength: 12,
  comparator: (a, b) => a.token === b.token || (a.user_group_id === b.user_group_id && a.environment === b.environment),
});

test.each(['ndjson', 'csv'] as const)('%s: import, export, import and export again give equal bytes', async (format) => {
  await fc.assert(
    fc.asyncProperty(lines, async (generated) => {
      await database.pool.query('delete from user_group');
      const given = generated.map((each) => `${JSON.stringify(each)}\n`).join('');
      expect(await importText(database, given)).toMatchObject({ created: generated.length, rejected: 0 });
      const exported = await exportText(database, format);
      const update = await importText(database, exported, { format, onExisting: 'update' });
      expect(update).toMatchObject({ unchanged: generated.length, rejected: 0 });
      await database.pool.query('delete from user_group');
      expect(await importText(database, exported, { format })).toMatchObject({ created: generated.length, rejected: 0 });
      expect(await exportText(database, format)).toBe(exported);
      if (format === 'ndjson') {
        const read = exported.trimEnd().split('\n');
        expect(read.map((each) => JSON.parse(each))).toMatchObject(JSON.parse(JSON.stringify(generated)));
      }
    }),
    { numRuns: 5 },
  );
});

test('JSON that something else wrote with line breaks and long numbers is exported in one line, digit by digit', async () => {
  await database.pool.query('delete from user_group');
  const { tokenHash, tokenEncrypted } = storedToken('a token of another tool');
  await database.pool.query(
    `insert into user_group (provided_id, name, token_hash, token_encrypted, properties) values ('g', 'g', $1, $2, '{\n"n":\r\n12345678901234567890}')`,
    [tokenHash, tokenEncrypted],
  );
  expect(await exportText(database, 'ndjson')).toBe(
    '{"user_group_id":"g","name":"g","token":"a token of another tool","mapping":{},"properties":{ "n": 12345678901234567890},"status":"active","suspended_reason":null,"environment":"none"}\n',
  );
});

test('groups of one environment are exported in the order of the file that they were imported from', async () => {
  await database.pool.query('delete from user_group');
  const ids = Array.from({ length: 240 }, (_, index) => `g${(index * 7) % 240}`);
  const file = ids.map((id, index) => JSON.stringify({ user_group_id: id, environment: index % 3 ? 'Testing' : 'Customer' }));
  expect(await importText(database, file.join('\n'))).toMatchObject({ created: 240 });
  const exported = async (environment?: 'Customer') =>
    (await exportText(database, 'csv', environment)).split('\r\n').map((row) => row.split(',')[0]);
  expect(await exported('Customer')).toEqual(['user_group_id', ...ids.filter((_, index) => index % 3 === 0), '']);
  expect(await exported()).toEqual(['user_group_id', ...ids, '']);
  expect(await exportText(database, 'csv', null)).toBe(`${fileFields.join(',')}\r\n`);
});
