import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('GET creates a group the first time and returns the same one the second', async () => {
  const first = await gateway.send('GET', '/api/user', {
    body: { user_group_id: 'acme', name: 'ACME', properties: { plan: 'gold' } },
  });
  expect(first.status).toBe(200);
  expect(first.json).toEqual({
    success: 1,
    new_user_group: true,
    user_group: {
      team_id: expect.any(Number),
      token: expect.stringMatching(/^ugt_[0-9A-Za-z]{36}$/),
      name: 'ACME',
      provided_id: 'acme',
      properties: { plan: 'gold' },
    },
  });
  const second = await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme', name: 'other', properties: {} } });
  expect(second.json).toEqual({ ...first.json, new_user_group: false });
});
