import { coerceInputValue, type GraphQLInputType, parse, typeFromAST, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { examples } from '../../web/playground/examples.ts';

const cases = examples.map(({ query, variables }) => ({
  name: /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '',
  query,
  variables,
}));

test('every example has a name of its own, which is the title of its tab', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(examples.length);
  expect(cases.map(({ name }) => name)).not.toContain('');
});

test.each(cases)('the example $name is valid, and so are its variables', ({ query, variables }) => {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('The first definition is not an operation.');
  const values = JSON.parse(variables ?? '{}') as Record<string, unknown>;
  const problems: string[] = [];
  for (const { variable, type } of operation.variableDefinitions ?? []) {
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType;
    coerceInputValue(values[variable.name.value] ?? null, inputType, (path, _, error) =>
      problems.push(`${path}: ${error.message}`),
    );
  }
  expect(problems).toEqual([]);
});
