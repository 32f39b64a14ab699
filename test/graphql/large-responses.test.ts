import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import { Caller } from '../../src/domain/caller.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import { serializeInParts } from '../../src/graphql/execution/serialize.ts';
import { createContext, type GraphQLContext } from '../../src/graphql/schema/context.ts';
import { connectTo } from '../support/connect.ts';
import { createPaths } from '../support/fuzz/paths.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { seedLargeGroups } from '../support/large-groups.ts';
import { bindQueries } from '../support/queries.ts';

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
  test('another one to the same API token is refused with 503, and with the connection', async () => {
    await leaveUnread();
    const { status, headers, json } = await send();
    expect([status, headers.get('connection'), json.errors[0].extensions.code, json.data]).toEqual([
      ...[503, 'close', 'UNAVAILABLE', undefined],
    ]);
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

describe('memory is reserved', () => {
  const paths = createPaths();
  let caller: Caller;
  beforeAll(async () => {
    const request = { name: 'test', environmentTag: 'Testing' as const, scopes: ['groups:read' as const], expiresAt: null };
    caller = new Caller((await issueApiToken(gateway.database.prisma, request)).apiToken);
  });
  const context = (reserve: GraphQLContext['reserve'], turn?: GraphQLContext['turn']) =>
    createContext({ db: bindQueries(gateway.database), caller, report: () => {}, reserve, turn });
  const respond = {
    'in the full pipeline': (reserve: GraphQLContext['reserve']) => paths.full(largeQuery(), undefined, context(reserve)),
    'on the fast path': async (reserve: GraphQLContext['reserve']) => {
      await paths.full(
        largeQuery(),
        undefined,
        context(() => {}),
      ); // which makes the document known
      return paths.fast(largeQuery(), undefined, context(reserve));
    },
  };

  test.each(Object.entries(respond))('for about the length of the response, %s', async (_, responseWith) => {
    const reserved: number[] = [];
    const response = await responseWith((bytes) => void reserved.push(bytes));
    const length = Buffer.byteLength(response?.body ?? '');
    expect([response?.status, reserved.length]).toEqual([200, 1]);
    expect(length).toBeGreaterThan(12_000_000);
    expect(Math.abs((reserved[0] as number) / length - 1)).toBeLessThan(0.05);
  });

  test.each(Object.entries(respond))('and if there is none the response is not built, %s', async (_, responseWith) => {
    const response = await responseWith(() => {
      throw new GatewayError('UNAVAILABLE', 'There is no memory.');
    });
    expect(response?.status).toBe(503);
    expect(JSON.parse(response?.body ?? '')).toEqual({
      errors: [{ message: 'There is no memory.', extensions: { code: 'UNAVAILABLE' } }],
    });
  });

  test('not for a response that is stored for an Idempotency-Key', async () => {
    const refuse = () => {
      throw new GatewayError('UNAVAILABLE', 'There is no memory.');
    };
    const { status } = await paths.full(largeQuery(), undefined, context(refuse, { isTaken: true, isNeeded: false }));
    expect(status).toBe(200);
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
      ...[200, 1, 'FORBIDDEN', ['instance']],
    ]);
    const { instance, nodes } = json.data;
    expect([instance, nodes.length, nodes.every(({ b }: { b: { text: string } }) => b.text.length === 60_000)]).toEqual([
      ...[null, 100, true],
    ]);
  }
});

describe('serialized in parts, a value is the same JSON', () => {
  const nested = (depth: number): unknown => (depth === 0 ? ['end'] : { a: [nested(depth - 1)] });
  test.each<[string, object]>([
    ['nothing', {}],
    ['an empty list', { list: [] }],
    ['members that JSON leaves out', { a: undefined, b: () => 1, c: Symbol('c'), d: null, e: 1 }],
    ['items that JSON replaces', { list: [undefined, () => 1, null, Number.NaN] }],
    ['values with a JSON form', { date: new Date(0), list: [{ toJSON: () => ({ a: 1 }) }] }],
    ['names and texts to be escaped', { 'a"\n': 'b\\\u0001\u2028', '\ud800': '\udfff' }],
    ['texts that are not ASCII', { a: 'ä'.repeat(70_000), b: '🂡'.repeat(70_000), c: ['€'.repeat(100_000)] }],
    ['many small items', { list: Array.from({ length: 50_000 }, (_, id) => ({ id, name: `name ${id}` })) }],
    ['deep nesting', { deep: nested(40) }],
  ])('%s', (_, value) => {
    for (const expectedBytes of [0, 1_000_000]) {
      expect(serializeInParts(value, expectedBytes).toString() === JSON.stringify(value)).toBe(true);
    }
  });
});
