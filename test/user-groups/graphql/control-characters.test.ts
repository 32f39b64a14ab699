import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTextIssues } from '../../../src/input.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { mutate } from '../../support/user-group-mutations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const refusedBy = (code: string) => `must not contain control characters or invisible marks; character 3 is ${code}.`;

test.each([
  ...['\u0001', '\n', '\u007f', '\u0085', '\u2028', '\u2029', '\ufeff', '\u061c'],
  ...['\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'],
])('%j is refused, and the message says where it is', (character) => {
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  expect(newTextIssues(['name'], `😀b${character}c`)).toEqual([{ path: ['name'], message: refusedBy(code) }]);
});

test.each([
  ...['\u0020', '\u00a0', '\u00ad', '\u061b', '\u200b', '\u200d', '\u2027', '\u202f', '\u2065', '\u206a', '\u{10ffff}'],
])('%j is accepted', (character) => {
  expect(newTextIssues(['name'], `😀b${character}c`)).toEqual([]);
});

const text = '😀b\u202ec';
const issue = (field: string) => ({ path: [field], message: refusedBy('U+202E') });

test('no group is created with it in its id or name; in a bulk call others are, also with the same id', async () => {
  const groups = [{ providedId: text, name: text }, { providedId: 'same', name: text }, { providedId: 'same' }];
  const { results } = await mutate(gateway, 'getOrCreateUserGroups', { groups });
  expect(results).toMatchObject([
    { issues: [issue('providedId'), issue('name')] },
    { issues: [issue('name')] },
    { created: true },
  ]);
  expect(await mutate(gateway, 'getOrCreateUserGroup', groups[0] ?? {})).toMatchObject({
    issues: [issue('providedId'), issue('name')],
  });
  const { status, json } = await gateway.send('GET', '/api/user', { body: { user_group_id: text, name: text } });
  expect([status, json.issues]).toEqual([400, [issue('user_group_id'), issue('name')]]);
  expect(await gateway.database.prisma.userGroup.count()).toBe(1);
});

test('no name is changed to one with it', async () => {
  await mutate(gateway, 'getOrCreateUserGroup', { providedId: 'kept' });
  expect(await mutate(gateway, 'updateUserGroup', { by: { providedId: 'kept' }, name: text })).toMatchObject({
    issues: [issue('name')],
  });
  const reply = await gateway.send('PUT', '/api/user', { body: { user_group_id: 'kept', name: text } });
  expect([reply.status, reply.json.issues]).toEqual([400, [issue('name')]]);
});
