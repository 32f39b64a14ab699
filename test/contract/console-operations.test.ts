import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { consoleOperations } from '../support/console-operations.ts';

test.each(Object.entries(consoleOperations))('the operation %s of the console is valid', (_, text) => {
  expect(validate(schema, parse(text))).toEqual([]);
});
