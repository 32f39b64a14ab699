import { describe, expect, test } from 'vitest';
import { contextOf } from '../../src/app.ts';
import { Caller } from '../../src/caller.ts';
import { InvalidInput } from '../../src/errors.ts';
import { deleteUserGroup, rotateUserGroupToken, updateUserGroup } from '../../src/user-groups/change.ts';
import { getOrCreateUserGroup } from '../../src/user-groups/create.ts';
import { checkGetOrCreate, checkRotate, checkUpdate } from '../../src/user-groups/user-groups.ts';

import { callerWith } from '../support/caller.ts';

const callerOf = (scopes: string[]) =>
  callerWith({
    id: 1,
    name: 'test',
    environmentTag: null,
    scopes,
  });

/** An object with a member that must not be looked at. */
function trap(member: string): object {
  return Object.defineProperty({}, member, {
    enumerable: true,
    get() {
      throw new Error(`${member} was looked at`);
    },
  });
}

function issuesOf(check: () => void): readonly string[] {
  try {
    check();
  } catch (error) {
    if (error instanceof InvalidInput) return error.issues.map(({ path }) => path.join('.'));
    throw error;
  }
  return [];
}

describe('checks no more of an input than necessary to reject it', () => {
  const tenWrong = Array.from({ length: 10 }, () => ({ schemaId: 's', dataSource: 5 })).map((entry, i) => ({
    ...entry,
    schemaId: `${i}`,
  }));

  test('nothing without the scope', async () => {
    const context = (caller: Caller) => contextOf({} as never, caller); // without a database
    const resolver = context(callerOf(['groups:resolve']));
    for (const operation of [
      getOrCreateUserGroup(context(callerOf(['groups:read'])), trap('providedId') as never),
      rotateUserGroupToken(resolver, trap('currentToken') as never),
      updateUserGroup(resolver, trap('token') as never, trap('name')),
      deleteUserGroup(resolver, trap('token') as never),
    ])
      await expect(operation).rejects.toThrow('groups:write');
    await expect(getOrCreateUserGroup(context(Caller.anonymous), trap('providedId') as never)).rejects.toThrow('API token');
  });

  test('no entry of a mapping after the tenth issue, and no properties', () => {
    const input = { providedId: 'a', mapping: [...tenWrong, trap('schemaId')], properties: { a: trap('b') } };
    expect(issuesOf(() => checkGetOrCreate(input))).toHaveLength(10);
  });

  test('no entry of a mapping that has too many', () => {
    const mapping = Array.from({ length: 1_001 }, () => trap('schemaId'));
    expect(issuesOf(() => checkGetOrCreate({ providedId: 'a', mapping }))).toEqual(['mapping']);
  });
});

test('reports issues of the selector and of the change of an update together', () => {
  expect(issuesOf(() => checkUpdate({ by: { token: '' }, name: '', mapping: null }))).toEqual(['by.token', 'mapping', 'name']);
  expect(issuesOf(() => checkUpdate({ by: { teamId: 1 }, name: 'n' }))).toEqual([]);
});

test.each([-1, 604_801, 1.5, Number.NaN, '60', true])('rejects a grace period of %j', (graceSeconds) => {
  expect(issuesOf(() => checkRotate({ currentToken: 'x', graceSeconds }))).toEqual(['graceSeconds']);
});
