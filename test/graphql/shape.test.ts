import fc from 'fast-check';
import { type DocumentNode, GraphQLError, Kind, parse, print, validate, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { shapeOf, validationRules } from '../../src/graphql/execution/validation.ts';
import { schema } from '../../src/schema.ts';
import { requestsOf } from '../support/fuzz/requests.ts';

const rules = validationRules(true);
const isValid = (document: DocumentNode): boolean => validate(schema, document, rules, { maxErrors: 1 }).length === 0;
const shape = (text: string): string | undefined => shapeOf(schema, parse(text));

describe('documents of one shape', () => {
  test.each([
    ['the name of the operation', 'query A { caller { name } }', 'query B { caller { name } }'],
    ['spaces and comments', '{ caller { name } }', '{caller{name}} # comment'],
    ['aliases', '{ a: caller { b: name c: id } }', '{ d: caller { a: name b: id } }'],
    ['an alias that is the name of the field', '{ caller { name } }', '{ caller: caller { name: name } }'],
    [
      'variables',
      'query ($a: ID!) { userGroup(by: { id: $a }) { name } }',
      'query ($b: ID!) { userGroup(by: { id: $b }) { name } }',
    ],
    ['strings', '{ userGroup(by: { token: "a" }) { name } }', '{ userGroup(by: { token: "b\\"}" }) { name } }'],
    ['integers', '{ userGroup(by: { teamId: 1 }) { name } }', '{ userGroup(by: { teamId: -234 }) { name } }'],
  ])('may differ in %s', (_, one, other) => {
    expect(shape(one)).toBeDefined();
    expect(shape(one)).toBe(shape(other));
  });

  test.each([
    ['a field', '{ caller { name } }', '{ caller { id } }'],
    ['the kind of the operation', 'query { caller { name } }', 'mutation { caller { name } }'],
    [
      'an integer that is too large',
      '{ userGroup(by: { teamId: 1 }) { name } }',
      '{ userGroup(by: { teamId: 12345678901 }) { name } }',
    ],
    ['the type of a literal', '{ userGroup(by: { teamId: 1 }) { name } }', '{ userGroup(by: { teamId: "1" }) { name } }'],
    [
      'a text that is to be a time',
      '{ events(filter: { occurredAt: { from: "2026-01-31T12:00:00Z" } }) { nodes { id } } }',
      '{ events(filter: { occurredAt: { from: "x" } }) { nodes { id } } }',
    ],
    [
      'a value of an enum',
      'query ($a: EnvironmentTag = TESTING) { caller { name } }',
      'query ($a: EnvironmentTag = OTHER) { caller { name } }',
    ],
    [
      'the type of a variable',
      'query ($a: ID!) { userGroup(by: { id: $a }) { name } }',
      'query ($a: ID) { userGroup(by: { id: $a }) { name } }',
    ],
    ['which aliases are equal', '{ a: caller { name } b: caller { name } }', '{ a: caller { name } a: caller { name } }'],
    ['an alias that is the name of another field', '{ caller { a: name id } }', '{ caller { id: name id } }'],
    ['which variables are equal', 'query ($a: ID!) { node(id: $a) { id } }', 'query ($a: ID!) { node(id: $b) { id } }'],
    [
      'which literals are equal',
      '{ a: userGroup(by: { token: "a" }) { name } a: userGroup(by: { token: "a" }) { name } }',
      '{ a: userGroup(by: { token: "a" }) { name } a: userGroup(by: { token: "b" }) { name } }',
    ],
  ])('do not differ in %s', (_, one, other) => {
    expect(shape(one)).toBeDefined();
    expect(shape(one)).not.toBe(shape(other));
  });

  test.each([
    ['several definitions', 'query A { caller { name } } query B { caller { name } }'],
    ['fragments', '{ caller { ...F } } fragment F on ApiToken { name }'],
    ['directives', '{ caller { name @include(if: true) } }'],
    ['directives of the operation', 'query @a { caller { name } }'],
    ['directives of variables', 'query ($a: ID @a) { node(id: $a) { id } }'],
    ['block strings', '{ userGroup(by: { token: """a""" }) { name } }'],
    ['subscriptions', 'subscription { a }'],
  ])('have no %s', (_, text) => {
    expect(shape(text)).toBeUndefined();
  });

  test('are all valid or all invalid: generated documents, and each with some of its names and literals replaced', () => {
    const requests = requestsOf(schema, {
      ids: ['VXNlckdyb3VwOjE='],
      teamIds: [1],
      providedIds: ['acme'],
      tokens: ['t'],
      cursors: ['c'],
    });
    const verdicts = new Map<string, { readonly isValid: boolean; readonly text: string }>();
    const compared = { valid: 0, invalid: 0 };
    const check = (document: DocumentNode): void => {
      const found = shapeOf(schema, document);
      if (found === undefined) return;
      const text = print(document);
      const verdict = { isValid: isValid(document), text };
      const before = verdicts.get(found);
      verdicts.set(found, before ?? verdict);
      if (!before || before.text === text) return;
      expect(verdict.isValid, `${text}\nand\n${before.text}\nhave the shape ${found}`).toBe(before.isValid);
      compared[verdict.isValid ? 'valid' : 'invalid'] += 1;
    };
    fc.assert(
      fc.property(fc.oneof(requests, conflicting), fc.infiniteStream(fc.nat(11)), ({ query }, choices) => {
        const document = parsed(query);
        if (!document) return;
        check(document);
        for (let i = 0; i < 6; i += 1) check(replaceSome(document, choices));
      }),
      { numRuns: 250 },
    );
    expect(compared.valid).toBeGreaterThan(120);
    expect(compared.invalid).toBeGreaterThan(120);
  });
});

/** Documents that are valid only as long as certain names and literals in them are equal, or are not. */
const conflicting = fc.constantFrom(
  { query: '{ a: userGroup(by: { token: "a" }) { name } a: userGroup(by: { token: "a" }) { id } }' },
  { query: '{ a: userGroup(by: { teamId: 1 }) { a: name b: id } b: userGroup(by: { teamId: 7 }) { name } }' },
  { query: 'query ($v: Int = 1) { a: userGroups(first: $v) { totalCount } b: userGroups(first: 1) { totalCount } }' },
  { query: '{ events(first: 1, filter: { occurredAt: { from: "a" } }) { nodes { id } } caller { name } }' },
);

function parsed(text: unknown): DocumentNode | undefined {
  try {
    return parse(text as string, { maxTokens: 2_000 });
  } catch (error) {
    if (error instanceof GraphQLError || typeof text !== 'string') return undefined;
    throw error;
  }
}

const strings = ['', 'a', 'b', '2026-01-31T12:00:00Z', 'acme'];
const integers = ['0', '1', '7', '2147483647', '2147483648', '123456789'];

/** The document with other aliases, variables, strings and integers in some places. */
function replaceSome(document: DocumentNode, choices: Iterator<number>): DocumentNode {
  const choose = <Item>(items: readonly Item[]): Item | undefined => items[choices.next().value as number];
  const renamed = choose(['v', 'w', 'x']);
  return visit(document, {
    Field(node) {
      const alias = choose(['a', 'b', 'name', node.name.value]);
      return alias === undefined ? undefined : { ...node, alias: { kind: Kind.NAME, value: alias } };
    },
    Variable: (node) =>
      renamed === undefined ? undefined : { ...node, name: { kind: Kind.NAME, value: `${node.name.value}${renamed}` } },
    StringValue: (node) => ({ ...node, value: choose(strings) ?? node.value }),
    IntValue: (node) => ({ ...node, value: choose(integers) ?? node.value }),
  });
}
