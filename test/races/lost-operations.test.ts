import { expect, test } from 'vitest';
import { type Group, initialState, type Operation, type Requester, type State } from '../support/model.ts';
import { explain } from '../support/model-explain.ts';

const requester: Requester = { tag: 'TESTING', admin: false };
const creation: Operation = { kind: 'getOrCreate', id: 'a', fields: {} };
const group: Group = {
  teamId: 1,
  providedId: 'a',
  environmentTag: 'TESTING',
  token: 'first',
  name: 'a',
  properties: null,
  mapping: [],
};
const created: State = { groups: [group], retired: new Map(), tokens: ['first'] };
const rotation: Operation = { kind: 'rotate', token: 'first', graceSeconds: 0, endGracePeriods: false };
const rotated: Group = { ...group, token: 'second' };
const deletion: Operation = { kind: 'delete', id: 'a' };
const lost = (operation: Operation) => ({ requester, operation, result: undefined });
const deleted = { requester, operation: deletion, result: { deletedId: Buffer.from('UserGroup:1').toString('base64') } };

test.each<[string, State, Parameters<typeof explain>[1], Group[], number]>([
  ['a lost creation that was not executed', initialState, [lost(creation)], [], 1],
  ['a lost creation that was executed', initialState, [lost(creation)], [group], 1],
  ['a lost rotation that was not executed', created, [lost(rotation)], [group], 1],
  ['a lost rotation that was executed', created, [lost(rotation)], [rotated], 1],
  ['a creation that was never sent', initialState, [], [group], 0],
  ['a lost rotation that renamed the group', created, [lost(rotation)], [{ ...rotated, name: 'b' }], 0],
  ['an acknowledged deletion of a group that is listed', created, [deleted], [group], 0],
  [
    'an acknowledged rotation whose former token is listed',
    created,
    [{ ...lost(rotation), result: { group: rotated } }],
    [group],
    0,
  ],
])('%s', (_, state, done, listed, count) => {
  expect(explain([state], done, listed)).toHaveLength(count);
});

test('a group that a lost operation created and another one deleted need not be listed', () => {
  const unlisted = { ...deleted, result: { deletedId: 'an id of another group' } };
  expect(explain([initialState], [lost(creation), lost(deletion)], [])).not.toHaveLength(0);
  expect(explain([initialState], [lost(creation), unlisted], [])).toHaveLength(0);
});
