import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let groupToken: string;
let before: unknown;
beforeAll(async () => {
  gateway = await startGateway();
  groupToken = (await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } })).json.user_group.token;
  before = await state();
});
afterAll(() => gateway.close());

const state = async () => (await gateway.database.pool.query('select * from user_group order by team_id')).rows;

const mutation = 'mutation { getOrCreateUserGroup(input: { providedId: "forged" }) { __typename } }';

/** The bodies that pages of other origins can send without asking: as forms do, and as `fetch` does with a type of forms. */
const simpleTypes = [
  'text/plain;charset=UTF-8',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=application/json',
];
const jsonBodies: Readonly<Record<string, () => string>> = {
  'POST /graphql': () => JSON.stringify({ query: mutation }),
  'POST /api/user': () => JSON.stringify({ current_token: groupToken }),
};
const forms: readonly string[] = [
  `query=${encodeURIComponent(mutation)}`,
  `--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n${mutation}\r\n--x--\r\n`,
  `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: mutation })}\r\n--x--\r\n`,
];

describe.each(simpleTypes)('a body of the type %s', (type) => {
  test.each(Object.keys(jsonBodies))('is rejected by %s, even with an API token', async (operation) => {
    const [method = '', path = ''] = operation.split(' ');
    for (const body of [jsonBodies[operation]?.(), ...forms]) {
      const { status } = await gateway.send(method, path, { headers: { 'content-type': type }, body });
      expect(status).toBe(415);
    }
    expect(await state()).toEqual(before);
  });
});

/** What a browser may send by itself with a request of another origin's page. */
const ambient: readonly Record<string, string>[] = [
  {},
  { cookie: 'token=TOKEN; Authorization=Token TOKEN' },
  { authorization: `Basic ${Buffer.from('user:TOKEN').toString('base64')}` },
  {
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'no-cors',
  },
];

test.each(ambient)('requests that a page of another origin can cause change nothing: %j', async (headers) => {
  const real = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll('TOKEN', gateway.token)]),
  );
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    gateway.send(method, path, { ...options, token: null, headers: { ...real, ...options.headers } });
  const query = encodeURIComponent(mutation);
  // Another scheme than those of API tokens is rejected before all else; so are parameters that GraphQL does not know.
  const byGet = 'authorization' in real ? [401, 401] : [405, 400];
  const replies = [
    await send('GET', '/api/user?user_group_id=forged'),
    await send('GET', `/graphql?query=${query}`),
    await send('GET', `/graphql?query=${query}&token=${gateway.token}&access_token=${gateway.token}`),
    await send('HEAD', '/api/user?user_group_id=forged'),
    // As JSON, which only a permitted origin could send.
    await send('POST', '/graphql', { body: { query: mutation } }),
    await send('POST', '/api/user', { body: { current_token: groupToken } }),
    await send('PUT', '/api/user', { body: { user_group_id: 'acme', name: 'forged' } }),
    await send('POST', '/oauth2/introspect', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${groupToken}&access_token=${gateway.token}`,
    }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([401, ...byGet, 405, 401, 401, 401, 401]);
  for (const { text } of replies) expect(text).not.toContain(groupToken);
  expect(await state()).toEqual(before);
});

test('a mutation by GET is rejected, even with an API token', async () => {
  for (const parameters of [
    `query=${encodeURIComponent(mutation)}`,
    `query=${encodeURIComponent(`query A { __typename } ${mutation.replace('mutation', 'mutation B')}`)}&operationName=B`,
  ]) {
    expect((await gateway.send('GET', `/graphql?${parameters}`)).status).toBe(405);
  }
  expect(await state()).toEqual(before);
});
