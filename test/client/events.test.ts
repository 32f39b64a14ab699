import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserGroupGateway } from '../../client/src/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let client: UserGroupGateway;
beforeAll(async () => {
  gateway = await startGateway();
  const { secret } = await gateway.issue({ environment: 'Testing', scopes: ['audit:read', 'groups:write'] });
  client = new UserGroupGateway({ url: gateway.url, apiToken: secret });
});
afterAll(() => gateway.close());

test('follows events of some types from a cursor on, and waits for more', async () => {
  const from = (after?: string) => client.events.follow({ after, types: ['USER_GROUP_CREATED'] });
  const { userGroup } = await client.userGroups.getOrCreate({ providedId: 'first' });
  const pages = from();
  const { value: first } = await pages.next();
  expect(first.events).toMatchObject([{ type: 'USER_GROUP_CREATED', userGroupId: userGroup.id, environment: 'TESTING' }]);
  const waiting = pages.next();
  await client.userGroups.update({ by: { providedId: 'first' }, name: 'changed' });
  await client.userGroups.getOrCreate({ providedId: 'second' });
  const { value: second } = await waiting;
  expect(second.events).toMatchObject([{ providedId: 'second' }]);
  expect((await from(first.cursor).next()).value).toEqual(second);
});

test('rejects when the cursor is expired', async () => {
  const { value } = await client.events.follow().next();
  await gateway.database.pool.query('update event_feed set removed_through = last_position + 1');
  await expect(client.events.follow({ after: value.cursor }).next()).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
});
