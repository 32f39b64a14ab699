import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const audits = serverAudits({ url: () => `${gateway.url}/graphql`, fetchFn: fetch });

test('there are 61 audits of GraphQL over HTTP', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits.map((audit) => [audit.name, audit] as const))('%s', async (_, audit) => {
  // By Yoga, and by the fast path.
  for (const { status, ...rest } of [await audit.fn(), await audit.fn()])
    expect(status, 'reason' in rest ? rest.reason : '').toBe('ok');
});
