import { readFileSync } from 'node:fs';
import {
  type GraphQLArgument,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';

test('schema.graphql is the printed schema (fix: npm run schema)', () => {
  expect(readFileSync('schema.graphql', 'utf8')).toBe(`${printSchema(lexicographicSortSchema(schema))}\n`);
});

test('every definition has a description', () => {
  const bare: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || ['String', 'Int', 'Boolean', 'ID', 'Float'].includes(type.name)) continue;
    if (!type.description) bare.push(type.name);
    if (isEnumType(type))
      bare.push(...type.getValues().flatMap(({ name, description }) => (description ? [] : [`${type.name}.${name}`])));
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!field.description) bare.push(`${type.name}.${field.name}`);
      const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
      bare.push(...args.filter(({ description }) => !description).map(({ name }) => `${type.name}.${field.name}(${name})`));
    }
  }
  expect(bare).toEqual([]);
});

test('every custom scalar names its specification', () => {
  const custom = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
  expect(custom.map(({ name }) => name)).toEqual(expect.arrayContaining(['DateTime', 'JSON']));
  const links = custom.map((type) => isScalarType(type) && type.specifiedByURL);
  expect(links).toEqual(custom.map(() => expect.stringMatching(/^https:\/\//)));
});

test('the nodes of connections implement Node, so that they can be fetched again by id', () => {
  const edges = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && type.name.endsWith('Edge'));
  const nodes = edges.map((type) => getNamedType((type as GraphQLObjectType).getFields()['node']?.type as GraphQLOutputType));
  const bare = nodes.filter((type) => !isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node'));
  expect(nodes.map(({ name }) => name)).toContain('UserGroup');
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test('every deprecation names its successor, in backticks', () => {
  expect(deprecationsWithoutSuccessor(schema)).toEqual([]);
});

/** The deprecated elements whose reason names no other element that exists and is not deprecated itself, with the reason. */
function deprecationsWithoutSuccessor(checked: GraphQLSchema): string[] {
  const reasons = new Map<string, string | null | undefined>();
  for (const type of Object.values(checked.getTypeMap())) {
    if (isEnumType(type))
      for (const { name, deprecationReason } of type.getValues()) reasons.set(`${type.name}.${name}`, deprecationReason);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      reasons.set(`${type.name}.${field.name}`, field.deprecationReason);
      const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
      for (const { name, deprecationReason } of args) reasons.set(`${type.name}.${field.name}(${name}:)`, deprecationReason);
    }
  }
  const isCurrent = (name: string) => reasons.has(name) && reasons.get(name) == null;
  return [...reasons].flatMap(([element, reason]) => {
    if (reason == null) return [];
    const named = [...reason.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    return named.some(isCurrent) ? [] : [`${element}: ${reason}`];
  });
}
