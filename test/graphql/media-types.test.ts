import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const json = 'application/json';
const graphql = 'application/graphql-response+json';

const send = (query: string, accept: string): Promise<Reply> =>
  gateway.send('POST', '/graphql', { body: { query }, headers: { accept } });

test.each([
  [json, json],
  [graphql, graphql],
  ['', json],
  ['*/*', json],
  [`${json}; charset=utf-8`, json],
  ['text/html, application/xml;q=0.9, */*;q=0.8', json],
  [`${graphql}, ${json}`, graphql],
  [`${json}, ${graphql}`, json],
  [`${graphql}, ${json};q=0.9`, graphql],
  [`${json};q=0, ${graphql};q=0.1`, graphql],
  [`${graphql}, ${json}, text/event-stream, multipart/mixed`, graphql],
])('for "%s" the response is %s, the first and the second time', async (accept, expected) => {
  const query = `{ __typename } # ${accept}`;
  for (const { status, headers } of [await send(query, accept), await send(query, accept)]) {
    expect([status, headers.get('content-type')]).toEqual([200, `${expected}; charset=utf-8`]);
  }
  const { status, headers } = await send('{', accept);
  expect([status, headers.get('content-type')]).toEqual([expected === json ? 200 : 400, `${expected}; charset=utf-8`]);
});

test('an invalid document has status 200 for JSON, and wrong parameters 400', async () => {
  const manyErrors = `{ ${Array.from({ length: 30 }, (_, i) => `unknown${i}`).join(' ')} }`;
  expect((await send(manyErrors, json)).status).toBe(200);
  expect((await send(manyErrors, graphql)).status).toBe(400);
  for (const accept of [json, graphql]) {
    const reply = await gateway.send('POST', '/graphql', { body: { variables: {} }, headers: { accept } });
    expect(reply.status).toBe(400);
  }
});
