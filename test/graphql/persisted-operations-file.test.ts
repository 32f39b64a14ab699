import { describe, expect, test } from 'vitest';
import { InvalidPersistedOperations, parsePersistedOperations } from '../../src/graphql/execution/persisted-operations.ts';
import { schema } from '../../src/schema.ts';

const caller = 'query Caller { caller { name } }';
const manifest = (operations: unknown) => ({ format: 'apollo-persisted-query-manifest', version: 1, operations });

async function problemsOf(file: unknown, introspection = true): Promise<readonly string[]> {
  try {
    await parsePersistedOperations([{ content: typeof file === 'string' ? file : JSON.stringify(file) }], schema, introspection);
    return [];
  } catch (error) {
    if (error instanceof InvalidPersistedOperations) return error.problems;
    throw error;
  }
}

test.each([
  ["Relay's compiler and GraphQL Code Generator", { a: caller }],
  ["Apollo's manifest", manifest([{ id: 'a', name: 'Caller', type: 'query', body: caller }])],
])('reads the format of %s', async (_, file) => {
  const operations = await parsePersistedOperations([{ content: JSON.stringify(file) }], schema, true);
  expect(operations.resolve({ documentId: 'a', variables: {} })).toEqual({ query: caller, variables: {} });
});

describe('rejects a file', () => {
  test.each<[string, unknown, string[]]>([
    ['that is not JSON', '{"a": ', ['the file is not valid JSON']],
    ['with an id twice', `{"a": "${caller}", "a": "${caller}"}`, ['the file']],
    ['that is a list', [caller], ['expected an object with the text of a document under each id']],
    ['without documents', {}, ['has no documents']],
    ['with a value that is not text', { a: 5, b: null }, ['document "a": expected the text', 'document "b": expected the text']],
    [
      'with wrong documents, every one of them',
      { a: '{', b: caller, c: '{ nothing caller { nothing } }', d: 'subscription { a }' },
      [
        'document "a": Syntax Error: Expected Name, found <EOF>. (line 1, column 2)',
        'document "c": Cannot query field "nothing" on type "Query". (line 1, column 3)',
        'document "c": Cannot query field "nothing" on type "ApiToken". (line 1, column 20)',
        'document "d": Subscriptions are not supported.',
      ],
    ],
    [
      'with a variable in a JSON value that is not JSON',
      {
        a: 'query ($at: DateTime) { userGroups(filter: { properties: [{ path: ["a"], equals: { b: $at } }] }) { nodes { id } } }',
      },
      ['document "a": Variable "$at" of type "DateTime" cannot be a part of a JSON value.'],
    ],
    [
      'with a document over a limit',
      { a: `{ ${'a '.repeat(2_001)} }` },
      ['document "a": The document exceeds the limit of 2000 tokens'],
    ],
    ['with too many documents', Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [i, caller])), ['has 5001 documents']],
    ['of another version', { ...manifest([]), version: 2 }, ['expected "format"']],
    ['with a manifest without operations', { format: 'apollo-persisted-query-manifest', version: 1 }, ['expected "format"']],
    [
      'with an operation without id',
      manifest([{ id: 'a', body: caller }, { body: caller }]),
      ['operations.1: expected an object'],
    ],
    ['with an operation without body', manifest([{ id: 'a' }]), ['document "a": expected the text']],
    [
      'with an id of two operations',
      manifest(['a', 'a'].map((id) => ({ id, body: caller }))),
      ['document "a": another document'],
    ],
  ])('%s', async (_, file, expected) => {
    expect(await problemsOf(file)).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  test('with introspection, where that is switched off', async () => {
    const file = { a: '{ __schema { queryType { name } } }' };
    expect(await problemsOf(file, true)).toEqual([]);
    expect((await problemsOf(file, false))[0]).toContain('introspection');
  });

  test('with thousands of problems, of which it lists 100', async () => {
    const problems = await problemsOf(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`id ${i}`, '{'])));
    expect(problems).toHaveLength(101);
    expect(problems[100]).toBe('1900 more problems');
  });
});

describe('several files', () => {
  const file = (name: string, documents: object) => ({ name, content: JSON.stringify(documents) });
  const other = '{ caller { number } }';

  test('are one list, in which a document may occur under the same id again', async () => {
    const files = [file('a.json', { 1: caller }), file('b.json', { 1: caller, 2: other })];
    const operations = await parsePersistedOperations(files, schema, true);
    for (const [documentId, query] of [
      ['1', caller],
      ['2', other],
    ])
      expect(operations.resolve({ documentId })).toEqual({ query });
  });

  test('are named by each problem', async () => {
    const files = [file('a.json', { 1: caller }), file('b.json', { 1: other, 2: '{' }), { name: 'c.json', content: '' }];
    const parsing = parsePersistedOperations(files, schema, true);
    await expect(parsing).rejects.toThrow(InvalidPersistedOperations);
    await expect(parsing).rejects.toThrow(
      /^b\.json: document "1": another document has the same id\nb\.json: document "2": .*\nc\.json: /,
    );
  });

  test('have at most 5,000 documents together', async () => {
    const documents = Object.fromEntries(Array.from({ length: 2_501 }, (_, i) => [i, caller]));
    const parsing = parsePersistedOperations([file('a.json', documents), file('b.json', documents)], schema, true);
    await expect(parsing).rejects.toThrow('b.json: has 5002 documents; the limit is 5000');
  });
});
