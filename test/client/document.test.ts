import { parse, print } from 'graphql';
import { expect, test } from 'vitest';
import { operationOf, textOf } from '../../client/src/document.ts';
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
