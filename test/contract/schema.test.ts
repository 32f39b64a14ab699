import { readFileSync } from 'node:fs';
import {
  type GraphQLArgument,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';

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
