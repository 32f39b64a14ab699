import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectTo } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { seedLargeGroups } from '../support/large-groups.ts';

let gateway: TestGateway;
let ids: string[];
beforeAll(async () => {
  gateway = await startGateway();
  ids = await seedLargeGroups(gateway);
});
afterAll(() => gateway.close());

/** About 12 MB: below the limit on one response, and more than half of what one API token may have unsent. */
const largeQuery = () => ({
  query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { teamId a: properties b: properties } } }',
  variables: { ids },
});
const send = (token?: string) => gateway.send('POST', '/graphql', { body: largeQuery(), ...(token !== undefined && { token }) });

/** Sends the large query, and reads no more than the beginning of the response. */
async function leaveUnread(): Promise<Socket> {
  const body = JSON.stringify(largeQuery());
  const socket = connectTo(gateway);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: gateway\r\nAuthorization: Token ${gateway.token}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'readable');
  return socket;
}

describe('while a large response is unread', () => {
  test('another one to the same API token is refused with 503', async () => {
    await leaveUnread();
    const { status, headers, json } = await send();
    expect([status, json.errors[0].extensions.code, json.data]).toEqual([503, 'UNAVAILABLE', undefined]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('small ones to the same API token are sent, and large ones to another', async () => {
    await leaveUnread();
    expect((await gateway.graphql('{ __typename }')).json).toEqual({ data: { __typename: 'Query' } });
    expect((await send((await gateway.issue()).secret)).status).toBe(200);
  });

  test('its memory is free again as soon as the client disconnects', async () => {
    for (let i = 0; i < 3; i += 1) {
      const socket = await leaveUnread();
      socket.resetAndDestroy();
      await expect.poll(async () => (await send()).status).toBe(200);
    }
  });
});

test.each(Object.entries({ 'in the full pipeline': 1, 'on the fast path': 2 }))(
  'a large response is whole, %s',
  async (_, repetitions) => {
    const expected = ids.map((id) => {
      const properties = { text: 'x'.repeat(60_000) };
      return { teamId: Number(Buffer.from(id, 'base64').toString().split(':')[1]), a: properties, b: properties };
    });
    const { token } = gateway;
    // A comment makes it a document of its own.
    const body = { ...largeQuery(), query: `# ${repetitions}\n${largeQuery().query}` };
    for (let i = 1; i < repetitions; i += 1) await gateway.send('POST', '/graphql', { body, token });
    const { status, headers, text } = await gateway.send('POST', '/graphql', { body, token });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(text === JSON.stringify({ data: { nodes: expected } })).toBe(true); // without a diff of 12 MB
  },
);

test('a large response with an error has its data and the error, also when its document is known', async () => {
  const query = largeQuery().query.replace('{', '{ instance { version }');
  for (let i = 0; i < 2; i += 1) {
    const { status, json } = await gateway.graphql(query, { ids });
    expect([status, json.errors.length, json.errors[0].extensions.code, json.errors[0].path]).toEqual([
      200,
      1,
      'FORBIDDEN',
      ['instance'],
    ]);
    const { instance, nodes } = json.data;
    expect([instance, nodes.length, nodes.every(({ b }: { b: { text: string } }) => b.text.length === 60_000)]).toEqual([
      null,
      100,
      true,
    ]);
  }
});
