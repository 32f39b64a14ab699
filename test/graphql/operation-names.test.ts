import { Kind } from 'graphql';
import { expect, test } from 'vitest';
import { Caller } from '../../src/caller.ts';
import { createOperationNames, maxOperationNames } from '../../src/graphql/execution/execute.ts';
import { issueToken } from '../../src/tokens.ts';
import { callerWith } from '../support/caller.ts';

const known = callerWith({});
const operation = (value: string | undefined) => (value === undefined ? {} : { name: { kind: Kind.NAME as const, value } });

/** The names that are shown, by a function of their own. */
function namesOf() {
  const shown = createOperationNames();
  return (name: string | undefined, caller: Caller = known) => shown(operation(name), caller);
}

test.each([
  ['no name', undefined, 'anonymous'],
  ['a name', 'Resolve', 'Resolve'],
  ['a long name', 'x'.repeat(65), 'other'],
  ['a name with a token in it', `q${issueToken('apiToken')}`, 'other'],
])('%s', (_, name, shown) => {
  expect(namesOf()(name)).toBe(shown);
});

test('are bounded: further ones have one name', () => {
  const shownName = namesOf();
  const shown = Array.from({ length: 3 * maxOperationNames }, (_, index) => shownName(`Name${index}`));
  expect(new Set(shown).size).toBe(maxOperationNames + 1);
  expect([shownName('Name0'), shownName('More')]).toEqual(['Name0', 'other']);
});

test('are not added by callers without an API token', () => {
  const shownName = namesOf();
  expect(shownName('Sent', Caller.anonymous)).toBe('other');
  shownName('Sent');
  expect(shownName('Sent', Caller.anonymous)).toBe('Sent');
});
