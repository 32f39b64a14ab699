import { expect, test } from 'vitest';
import { readOptions } from '../../src/commands/options.ts';

const kinds = { after: 'value', json: 'flag' } as const;

test.each([
  ['a cursor that begins with a dash', ['--after', '-abc'], '-abc'],
  ['one that continues as an option with a value does', ['--after', '-a=b'], '-a=b'],
  ['a dash', ['--after', '-'], '-'],
  ['two dashes behind an equals sign', ['--after=--abc'], '--abc'],
])('the value of an option may be %s', (_, args, value) => {
  expect(readOptions([...args, 'word', '--json'], kinds)).toEqual({
    given: new Map<string, string[]>([
      ['after', [value]],
      ['json', []],
    ]),
    words: ['word'],
    problems: [],
  });
});

test.each([['--json'], ['--'], []])('%j is not the value of an option', (...following) => {
  expect(readOptions(['--after', ...following], kinds).problems).toEqual(['--after needs a value.']);
});
