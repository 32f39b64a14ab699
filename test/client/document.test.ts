import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse, print } from 'graphql';
import { expect, expectTypeOf, test } from 'vitest';
import { operationOf, textOf } from '../../client/src/document.ts';
import { UserGroupGateway } from '../../client/src/index.ts';
import { consoleOperations } from '../support/console-operations.ts';

const everything = `
  query All($a: [Int!]! = [1, -2.5e3], $b: In = { x: null, y: ENUM, z: "\\"q\\" \\n\\u00e4" }, $c: Boolean = true @d) @e(f: $a) {
    alias: field(list: [], object: {}, variable: $b) @skip(if: $c) { ...F @g ... on T @h { id } ... @include(if: true) { id } ... { id } }
    text(block: """
      two
        lines
    """)
  }
  fragment F on T @i { id }
  mutation { a }
  subscription S { b }`;

test.each([...Object.entries(consoleOperations), ['everything', everything]])('prints the syntax tree of %s', (_, text) => {
  const withoutBlocks = print(parse(text)).replace(/"""\n *two\n *lines\n *"""/, '"two\\n  lines"');
  expect(print(parse(textOf(parse(text, { noLocation: true }))))).toBe(withoutBlocks);
});

test.each([
  ['mutation Change { a }', 'mutation', 'Change'],
  ['mutation{a}', 'mutation', ''],
  ['\uFEFF, # query Other { b }\n  mutation\n # c\n Change @d { a }', 'mutation', 'Change'],
  ['"""query \\""" { a""" mutation Change { a }', 'mutation', 'Change'],
  ['fragment query on T { mutation { a } query } mutation Change { a }', 'mutation', 'Change'],
  ['query Read { a(b: "mutation Change {") }', 'query', 'Read'],
  ['query ($mutation: In = { a: {} mutation: 1 }) { mutation(a: "\\"mutation {") }', 'query', ''],
  ['# mutation\n{ a(b: """\n mutation { """) }', 'query', ''],
])('finds the operation of %j', (text, type, name) => {
  expect(() => parse(text)).not.toThrow();
  expect(operationOf(text)).toEqual({ type, name });
});

test('takes the result and the variables of a TypedDocumentNode', () => {
  const gateway = new UserGroupGateway({ url: 'http://127.0.0.1:9', apiToken: 'unused-api-token' });
  const document = parse('query ($id: String!) { userGroup(by: { providedId: $id }) { name } }') as TypedDocumentNode<
    { userGroup: { name: string } | null },
    { id: string }
  >;
  const noVariables = parse('{ a }') as TypedDocumentNode<{ a: 1 }, { [key: string]: never }>;
  const typed = () => gateway.query(document, { id: 'acme' });
  expectTypeOf(typed).returns.resolves.toEqualTypeOf<{ userGroup: { name: string } | null }>();
  expectTypeOf(() => gateway.query(noVariables)).returns.resolves.toEqualTypeOf<{ a: 1 }>();
  // @ts-expect-error the variables are missing
  () => gateway.query(document);
  // @ts-expect-error the variables have another type
  () => gateway.query(document, { id: 5 });
  expect(textOf(document)).toContain('$id:String!');
});
