import { GraphQLError, Kind, type ValueNode, type VariableNode } from 'graphql';
import { z } from 'zod';
import type { Json } from '../input.ts';
import { isExactNumber } from '../json.ts';
import { builder } from './builder.ts';

/**
 * About how many characters a JSON value has as text: exact but for escapes. Recursive: the readers
 * of bodies and documents bound the depth.
 *
 * @param known remembers what was measured, for values that occur again.
 */
export function jsonLength(value: unknown, known?: Map<object, number>): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return String(value).length;
  if (typeof value !== 'object' || value === null) return value === false ? 5 : 4;
  const before = known?.get(value);
  if (before !== undefined) return before;
  let length = 2;
  if (Array.isArray(value)) for (const item of value) length += jsonLength(item, known) + 1;
  else for (const name in value) length += name.length + 4 + jsonLength((value as Record<string, unknown>)[name], known);
  known?.set(value, length);
  return length;
}

/** Stricter than `Date`, which reads a time without an offset, February 30 and `"1"` as some time. */
const instant = z.iso.datetime({ offset: true });

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc8259',
  parseValue: (value) => value as Json,
  parseLiteral: (node, variables) => readLiteral(node, variables ?? {}),
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

/**
 * The value of a JSON literal. A number that a float cannot represent exactly becomes `NaN`, which is rejected where it is used.
 * A variable that is absent is as in an input object: as if its member was not there, and in a list null.
 */
function readLiteral(node: ValueNode, variables: Record<string, unknown>): Json {
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
      return node.values.map((item) => readLiteral(item, variables));
    case Kind.OBJECT: {
      const names = node.fields.map(({ name }) => name.value);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice) throw new GraphQLError(`The member ${twice} appears more than once in one object.`, { nodes: node });
      const given = node.fields.filter(({ value }) => value.kind !== Kind.VARIABLE || isGiven(value, variables));
      return Object.fromEntries(given.map(({ name, value }) => [name.value, readLiteral(value, variables)]));
    }
    case Kind.VARIABLE:
      return isGiven(node, variables) ? (variables[node.name.value] as Json) : null;
    case Kind.ENUM:
      throw new GraphQLError(`${node.value} is not a JSON value; write "${node.value}".`, { nodes: node });
  }
}

const isGiven = ({ name }: VariableNode, variables: Record<string, unknown>): boolean =>
  Object.hasOwn(variables, name.value) && variables[name.value] !== undefined;

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
