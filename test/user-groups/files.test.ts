import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFields } from '../../src/user-groups/import-lines.ts';
import { exportUserGroups } from '../../src/user-groups/statements/export.ts';
import { newTextIssues } from '../../src/user-groups/values.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { exportText, importText } from '../support/group-files.ts';
import { storedToken, testKeys } from '../support/keys.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startGateway();
});
afterAll(async () => {
  await database.close();
  await gateway.close();
});

/** Characters that formats, terminals and parsers give a meaning. */
const strange = fc.constantFrom(...'"\',;\\\r\n\t =+-@#{}[]\u0001\u007f\u0085\u2028\uFEFF', 'é', '漢', '😀', 'a', 'Z', '0');
const text = (most: number) =>
  fc
    .string({
      unit: fc.oneof(strange, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 })),
      minLength: 1,
      maxLength: most,
    })
    .filter((value) => [...value].length <= 255);
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('__proto__'));
const object = fc.dictionary(
  text(8).filter((name) => name !== '__proto__'),
  json,
  { maxKeys: 5, noNullPrototype: true },
);
const printableToken = fc
  .string({ unit: fc.constantFrom(...'"\',;\\ =+-@#{}[]<>&é漢😀aZ09'), minLength: 16, maxLength: 40 })
  .filter((token) => [...token].length >= 16);

const group = fc.record({
  providedId: text(20),
  environmentTag: fc.constantFrom('Customer' as const, 'Testing' as const),
  name: text(20),
  token: printableToken,
  mapping: fc.dictionary(
    text(8).filter((name) => name !== '__proto__'),
    text(8),
    { maxKeys: 5, noNullPrototype: true },
  ),
  properties: fc.oneof(fc.constant(null), fc.constant({}), object),
  suspended: fc.boolean(),
  reason: fc.option(text(20).filter((reason) => [...newTextIssues([], reason)].length === 0)),
});
const groups = fc.uniqueArray(group, {
  maxLength: 12,
  comparator: (a, b) => a.token === b.token || (a.providedId === b.providedId && a.environmentTag === b.environmentTag),
});

const rowsOf = async () =>
  (
    await database.pool.query(
      'select provided_id, environment_tag, name, token_hash, properties::text, mapping::text, suspended, suspended_reason from user_group order by token_hash',
    )
  ).rows;

test.each(['ndjson', 'csv'] as const)(
  '%s: what is exported is imported unchanged, with strange characters and exact numbers',
  async (format) => {
    await fc.assert(
      fc.asyncProperty(groups, async (generated) => {
        await database.pool.query('delete from user_group');
        for (const { token, mapping, properties, ...rest } of generated) {
          const stored = storedToken(token);
          await database.pool.query(
            'insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, mapping, properties, suspended, suspended_reason) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)',
            [
              rest.providedId,
              rest.environmentTag,
              rest.name,
              stored.tokenHash,
              stored.tokenEncrypted,
              JSON.stringify(mapping),
              properties && JSON.stringify(properties),
              rest.suspended,
              rest.suspended ? rest.reason : null,
            ],
          );
        }
        const before = await rowsOf();
        const exported = await exportText(database, format);
        expect(await importText(database, exported, { format, onExisting: 'update' })).toMatchObject({
          rejected: 0,
          unchanged: generated.length,
        });
        await database.pool.query('delete from user_group');
        expect(await importText(database, exported, { format })).toMatchObject({ rejected: 0, created: generated.length });
        expect(await rowsOf()).toEqual(before);
      }),
      { numRuns: 12 },
    );
  },
);

test('JSON that something else wrote with line breaks and long numbers is exported in one line, digit by digit', async () => {
  await database.pool.query('delete from user_group');
  const { tokenHash, tokenEncrypted } = storedToken('a token of another tool');
  await database.pool.query(
    `insert into user_group (provided_id, name, token_hash, token_encrypted, properties) values ('g', 'g', $1, $2, '{\n"n":\r\n12345678901234567890}')`,
    [tokenHash, tokenEncrypted],
  );
  expect(await exportText(database, 'ndjson')).toMatch(
    /^\{"user_group_id":"g","name":"g","token":"a token of another tool",.*"mapping":\{\},"properties":\{ "n": 12345678901234567890\},"status":"active","suspended_reason":null,"environment":null\}\n$/,
  );
});

test('groups of one environment are exported, in pages bounded by their size', async () => {
  await database.pool.query('delete from user_group');
  const line = (index: number, environment: string) =>
    `${JSON.stringify({ user_group_id: `g${index}`, environment, properties: { a: 'x'.repeat(60_000) } })}\n`;
  const text = Array.from({ length: 240 }, (_, index) => line(index, index % 3 === 0 ? 'Customer' : 'Testing')).join('');
  expect(await importText(database, text)).toMatchObject({ created: 240 });
  const idsOf = (exported: string) =>
    exported
      .split('\n')
      .slice(0, -1)
      .map((each) => JSON.parse(each).user_group_id);
  const expected = Array.from({ length: 80 }, (_, index) => `g${3 * index}`);
  expect(new Set(idsOf(await exportText(database, 'ndjson', 'Customer')))).toEqual(new Set(expected));
  expect(idsOf(await exportText(database, 'ndjson'))).toHaveLength(240);
  expect(await exportText(database, 'csv', null)).toBe(`${importFields.join(',')}\r\n`);
});

/** Values, valid or not, for each field that the legacy API and files have in common. */
const anything = fc.oneof(fc.constantFrom(null, true, 5, '', 'x'.repeat(256), '\0', [], {}), text(10), json);
/** Without the characters that only a stored name may have, which a file takes and the API does not. */
const newName = fc
  .oneof(text(10), anything)
  .filter((name) => typeof name !== 'string' || !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/u.test(name));
const number = fc.constantFrom('1', '1.50', '1e400', '12345678901234567890', '0.1', '9007199254740993', '-0');
const body = fc
  .record(
    {
      name: newName,
      mapping: fc.oneof(fc.dictionary(text(5), fc.oneof(text(5), anything), { noNullPrototype: true }), anything),
      properties: fc.oneof(object, anything),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .chain((members) =>
    fc
      .record({
        id: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: anything }),
        exact: number,
        twice: fc.boolean(),
      })
      .map(({ id, exact, twice }) => (index: number) => {
        const rest = JSON.stringify(members).slice(1, -1);
        const numbers = 'properties' in members ? '' : `,"properties":{"n":${exact}}`;
        // The id is unique, unless it is one that no group can have.
        const value = JSON.stringify(
          id === undefined || (typeof id === 'string' && id !== '' && id.length < 256 && id !== '\0') ? `group ${index}` : id,
        );
        return `{"user_group_id":${value}${rest && `,${rest}`}${numbers}${twice && index % 7 === 0 ? ',"user_group_id":"again"' : ''}}`;
      }),
  );

test('an export has the groups as they were when it began', async () => {
  await database.prisma.userGroup.deleteMany();
  const lines = Array.from({ length: 200 }, (_, index) => `${JSON.stringify({ user_group_id: `g${index}`, name: 'before' })}\n`);
  await importText(database, lines.join(''));
  const names: string[] = [];
  for await (const { groups } of exportUserGroups({ pool: database.pool, keys: testKeys }, undefined)) {
    names.push(...groups.map(({ name }) => name));
    await database.pool.query("update user_group set name = 'after' where provided_id <> 'g199'");
    await database.pool.query("delete from user_group where provided_id = 'g199'");
  }
  expect(names).toEqual(lines.map(() => 'before'));
});

test('an export that is not read to its end leaves no transaction open', async () => {
  for await (const { groups } of exportUserGroups({ pool: database.pool, keys: testKeys }, undefined)) {
    expect(groups.length).toBeGreaterThan(0);
    break;
  }
  // The pool gives the connection that was released last.
  expect((await database.pool.query('show transaction_read_only')).rows).toEqual([{ transaction_read_only: 'off' }]);
});

test('a file and the legacy API reject the same groups, control characters in names aside, and store the others alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 60, maxLength: 60 }), async (generated) => {
      await gateway.database.pool.query('delete from user_group');
      await database.pool.query('delete from user_group');
      const lines = generated.map((write, index) => write(index));
      const replies = await Promise.all(lines.map((line) => gateway.send('GET', '/api/user', { body: line })));
      expect(replies.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
      const refused = replies.flatMap(({ status }, index) => (status === 200 ? [] : [index + 1]));
      const { reasons } = await importText(database, `${lines.join('\n')}\n`, { environment: 'Testing' });
      expect(reasons.map(({ line }) => line)).toEqual(refused);

      const rows =
        'select provided_id, environment_tag, name, properties::text, mapping::text from user_group order by provided_id';
      const [ours, theirs] = await Promise.all([database.pool.query(rows), gateway.database.pool.query(rows)]);
      expect(ours.rows).toEqual(theirs.rows);
    }),
    { numRuns: 4 },
  );
});
