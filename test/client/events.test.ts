import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Fetch, type GatewayOptions, UserGroupGateway } from '../../client/src/index.ts';
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

/** A client of a server that responds as told. @returns also the variables of each request. */
function clientOf(respond: () => Response, options: Partial<GatewayOptions>) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: { waitSeconds?: number; after?: string }[] = [];
  const fetch: Fetch = async (_, { body }) => {
    sent.push(JSON.parse(String(body)).variables);
    return respond();
  };
  return { sent, client: new UserGroupGateway({ url: 'http://gateway', apiToken: 'token', fetch, ...options }) };
}
const emptyPage = () => Response.json({ data: { result: { nodes: [], cursor: 'next' } } });

test.each([
  [{}, 6],
  [{ timeoutMs: 3_600_000 }, 8],
  [{ timeoutMs: 10_000 }, 2],
])('waits for events as long as the limit of a call permits: with %o %i seconds', async (options, waitSeconds) => {
  const { client, sent } = clientOf(emptyPage, options);
  await client.events.follow().next();
  expect(sent).toMatchObject([{ waitSeconds }]);
});

test('asks for the end of the feed without waiting, so that a lost response loses no event', async () => {
  const { client, sent } = clientOf(emptyPage, {});
  const pages = client.events.follow({ after: 'latest' });
  await pages.next();
  await pages.next();
  expect(sent).toMatchObject([
    { after: 'latest', waitSeconds: 0 },
    { after: 'next', waitSeconds: 6 },
  ]);
});
