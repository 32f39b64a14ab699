import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a caller of another environment who rotates a token at the same moment takes nothing from the rightful one', async () => {
  const rightful = (await gateway.issue({ environment: 'Customer' })).secret;
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const created = await gateway.send('GET', '/api/user', { body: { user_group_id: `group-${i}` }, token: rightful });
      const body = { current_token: created.json.user_group.token };
      const [stranger, owner] = await Promise.all([
        gateway.send('POST', '/api/user', { body }),
        gateway.send('POST', '/api/user', { body, token: rightful }),
      ]);
      return [stranger.status, owner.status];
    }),
  );
  expect(outcomes).toEqual(outcomes.map(() => [404, 200]));
});

test('callers of three environments who create one id at the same moment each get a rightful answer', async () => {
  const secrets = await Promise.all(
    (['Customer', 'Testing', null] as const).map(async (environment) => (await gateway.issue({ environment })).secret),
  );
  for (let round = 0; round < 20; round += 1) {
    const replies = await Promise.all(
      secrets.map((token) => gateway.send('GET', '/api/user', { body: { user_group_id: `shared-${round}` }, token })),
    );
    const statuses = replies.map(({ status }) => status).join();
    expect(['200,200,409', '409,409,200']).toContain(statuses);
  }
});
