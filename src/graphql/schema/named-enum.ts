import { builder } from './builder.ts';

/**
 * Defines an enum of names that are not GraphQL names, such as `groups:read`, which is `GROUPS_READ` in GraphQL and itself
 * everywhere else: in commands, in REST and in the database.
 *
 * @param typeName the name of the enum.
 * @param description what its values are.
 * @param names every name; resolvers get and return these.
 * @param describe what a name means, in one sentence without its period.
 */
export function defineNamedEnum<Name extends string>(
  typeName: string,
  description: string,
  names: readonly Name[],
  describe: (name: Name) => string,
) {
  const values = names.map((name) => [constantCase(name), { value: name, description: `\`${name}\`: ${describe(name)}.` }]);
  return builder.enumType(typeName, { description, values: Object.fromEntries(values) as Record<string, { value: Name }> });
}

const constantCase = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z]/g, '_');
