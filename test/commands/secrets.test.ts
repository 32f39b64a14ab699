import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueApiToken } from '../../src/domain/api-tokens.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { endProcesses, type ServeProcess, serve } from '../support/process.ts';

const bootstrap = 'an-operators/own+choice=2026';
const imported = 'imported:token:of:another:system';
const wrong = { api: issueToken('apiToken'), group: issueToken('userGroup') };

let database: TestDatabase;
let gateway: ServeProcess;
let apiToken: string;

beforeAll(async () => {
  database = await createTestDatabase();
  apiToken = (await issueApiToken(database.prisma, { name: 'test', environmentTag: null, scopes: ['admin'], expiresAt: null }))
    .secret;
  gateway = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: bootstrap, LOG_LEVEL: 'trace', LOG_REQUESTS: '1' });
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

/** Puts every secret into every part of a request. @returns the statuses of the responses. */
async function sendEverywhere(groupToken: string): Promise<Set<number>> {
  const rotation = `mutation ($t: String!) { rotateUserGroupToken(input: { currentToken: $t, graceSeconds: 5 }) { __typename } }`;
  const update = `mutation ($t: String!) { updateUserGroup(input: { by: { token: $t }, name: $t, properties: { secret: $t } }) { __typename } }`;
  const statuses = new Set<number>();
  for (const secret of [apiToken, bootstrap, imported, wrong.api, wrong.group, groupToken]) {
    const text = encodeURIComponent(secret);
    const replies = await Promise.all([
      sendRequest(gateway.url, 'GET', '/api/user', { token: secret, body: { user_group_id: secret, properties: { secret } } }),
      sendRequest(gateway.url, 'GET', '/api/user', { headers: { authorization: `Bearer ${secret}`, cookie: `token=${secret}` } }),
      ...[secret, groupToken].map((current_token) =>
        sendRequest(gateway.url, 'POST', '/api/user', { token: apiToken, body: { current_token } }),
      ),
      sendRequest(gateway.url, 'GET', `/api/user?user_group_id=${text}&token=${text}`, { token: apiToken }),
      sendRequest(gateway.url, 'GET', `/api/user/${text}?${text}`, { token: apiToken }),
      sendRequest(gateway.url, 'GET', `/docs/errors/${text}`, { token: apiToken }),
      sendRequest(gateway.url, 'DELETE', `/api/user?${text}`, { token: apiToken }),
      sendRequest(gateway.url, 'PUT', '/api/user', { token: apiToken, body: `{"user_group_id": ${secret}` }),
      sendRequest(gateway.url, 'PUT', '/api/user', {
        token: apiToken,
        body: { user_group_id: 'a', mapping: { [secret]: secret } },
      }),
      sendRequest(gateway.url, 'POST', '/graphql', {
        token: apiToken,
        body: { query: `{ userGroup(by: { token: "${secret}" }) { id } }` },
      }),
      sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query: `{ ${secret} }`, operationName: secret } }),
      ...['query', 'mutation'].map((type) =>
        // The names of operations are exported and logged.
        sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query: `${type} ${secret} { __typename }` } }),
      ),
      sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query: rotation, variables: { t: secret } } }),
      sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query: update, variables: { t: secret } } }),
      sendRequest(gateway.url, 'GET', '/api/user', {
        token: apiToken,
        // An id that a caller chose is logged as it is, unless it looks like a token.
        headers: { 'x-token': secret, ...(/^ug[tk]_/.test(secret) && { 'x-request-id': secret }) },
        body: { user_group_id: 'b' },
      }),
    ]);
    for (const { status } of replies) statuses.add(status);
  }
  return statuses;
}

test('logs no secret, regardless of where it is sent and what fails', async () => {
  const body = { user_group_id: 'a' };
  const { json } = await sendRequest(gateway.url, 'GET', '/api/user', { token: apiToken, body });
  const groupToken = json.user_group.token;
  expect(await sendEverywhere(groupToken)).toContain(401);
  const metrics = await sendRequest(gateway.url, 'GET', '/metrics', { headers: { authorization: `Bearer ${apiToken}` } });
  expect(metrics.text).toContain('operation="updateUserGroup",status="200"');

  // Failures of the gateway's own are logged with their causes: a table that is gone, connections that are cut.
  await database.pool.query('alter table user_group rename to gone; alter table retired_token rename to gone_too');
  expect(await sendEverywhere(groupToken)).toContain(500);
  await database.pool.query('alter table api_token rename to gone_as_well');
  expect(await sendEverywhere(groupToken)).toContain(500);
  await gateway.stop();

  const lines = `${gateway.output.stdout}${gateway.output.stderr}${metrics.text}`.split('\n');
  expect(lines.filter((line) => line.includes('"INTERNAL"')).length).toBeGreaterThan(20);
  const { password } = new URL(database.url);
  for (const secret of [apiToken, bootstrap, imported, wrong.api, wrong.group, groupToken, password, testKey]) {
    // As it is, in a URL, in JSON, and most of it.
    const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), secret.slice(4, 20)];
    const leaks = lines.filter((line) => forms.some((form) => line.includes(form))).map((line) => line.slice(0, 300));
    expect(leaks.slice(0, 3)).toEqual([]);
  }
});
