import { GraphQLError, Kind, type ValueNode } from 'graphql';
import { z } from 'zod';
import type { Json } from '../input.ts';
import { isExactNumber } from '../json.ts';
import { builder } from './builder.ts';

/** Stricter than `Date`, which reads a time without an offset, February 30 and `"1"` as some time. */
const instant = z.iso.datetime({ offset: true });

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc8259',
  parseValue: (value) => value as Json,
  parseLiteral: (node) => readLiteral(node),
});

builder.scalarType('DateTime', {
  description: 'A point in time, in UTC, as ISO 8601 with milliseconds: `2026-01-31T12:00:00.000Z`.',
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc3339',
  serialize: (date) => date.toISOString(),
  parseValue: (text) => {
    const { data } = instant.safeParse(text);
    if (data === undefined)
      throw new GraphQLError('A DateTime must be ISO 8601 with an offset, such as 2026-01-31T12:00:00.000Z.');
    return new Date(data);
  },
});

/** The value of a JSON literal. An inexact number becomes `NaN`, which is rejected where it is used. */
function readLiteral(node: ValueNode): Json {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.BOOLEAN:
    case Kind.STRING:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return isExactNumber(node.value) ? Number(node.value) : Number.NaN;
    case Kind.LIST:
      return node.values.map(readLiteral);
    case Kind.OBJECT: {
      const names = node.fields.map(({ name }) => name.value);
      if (new Set(names).size < names.length)
        throw new GraphQLError('A member appears more than once in one object.', { nodes: node });
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, readLiteral(value)]));
    }
    case Kind.VARIABLE:
      throw new GraphQLError('A variable cannot be a part of a JSON value. Send the whole value as one variable of type JSON.', {
        nodes: node,
      });
    case Kind.ENUM:
      throw new GraphQLError(`${node.value} is not a JSON value; write "${node.value}".`, { nodes: node });
  }
}

/** A range of time in a filter. */
export const DateTimeRangeInput = builder.inputType('DateTimeRange', {
  description: 'A range of time. Omit one side to leave it open.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'The beginning, which is included.' }),
    to: t.field({ type: 'DateTime', description: 'The end, which is excluded.' }),
  }),
});

/** The environment of a group or an API token; none means untagged. */
export const EnvironmentTagType = builder.enumType('EnvironmentTag', {
  description:
    'The environment of a user group or an API token. Two groups may share an id only if each environment has one of them.',
  values: {
    CUSTOMER: { value: 'Customer', description: 'Groups of real customers.' },
    TESTING: { value: 'Testing', description: 'Groups for testing.' },
  } as const,
});
