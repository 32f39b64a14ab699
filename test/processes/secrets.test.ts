import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { issueToken } from '../../src/domain/tokens.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { sendRequest } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { endProcesses, run, type ServeProcess, serve, until } from '../support/process.ts';
import { filesSince, findSecrets, processSurfaces, type Surface } from '../support/secret-search.ts';

/** A password in a `DATABASE_URL` that leads nowhere. */
const elsewhere = 'postgresql://gateway:pass-word-of-another-server@127.0.0.1:1/gateway';

/** Every secret, by what it is. Further ones are added when the gateway issues them. */
const secrets: Record<string, string> = {
  bootstrap: 'an-operators/own+choice=2026',
  imported: 'imported:token:of:another:system',
  wrongApiToken: issueToken('apiToken'),
  wrongGroupToken: issueToken('userGroup'),
  otherScheme: Buffer.from('someone:the-password-of-someone').toString('base64'),
  encryptionKey: testKey,
  otherPassword: new URL(elsewhere).password,
};

/** Those that only the operator and the gateway know: no request has them. */
const operatorsOwn = ['encryptionKey', 'databasePassword', 'otherPassword'];

/** What `groups import` reads. */
const importFile = 'import.ndjson';

/** What must be found where it is expected, so that the search is known to work: the request id, operation, and provided id of one request. */
const control = 'control-of-the-search';

let dataDir: TestDataDir;
let gateway: ServeProcess;
let database: Database;
let startedMs: number;

beforeAll(async () => {
  dataDir = makeKeyedDataDir();
  startedMs = Date.now() - 1_000;
  gateway = await serve({
    ...{ DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: secrets['bootstrap'] as string, LOG_LEVEL: 'trace', LOG_REQUESTS: '1' },
    ...{ RATE_LIMIT: '100000', NODE_OPTIONS: `--import ${new URL('../support/print-spans.mjs', import.meta.url)}` },
  });
  const url = dataDir.databaseUrl();
  secrets['databasePassword'] = new URL(url).password;
  database = connectDatabase({ connectionString: url });
});
afterAll(async () => {
  await database.close();
  await endProcesses();
  await dataDir.remove();
});

const text = (name: string, content: string): Surface => ({ name, content: Buffer.from(content) });

/** What the processes have printed: the log, with a line for each request, and the spans. */
const printed = (): Surface[] => [text('standard output', gateway.output.stdout), text('standard error', gateway.output.stderr)];

/** Everything that was written to `DATA_DIR` since the start: tables, indexes, the log of changes, the text log of PostgreSQL. */
async function writtenFiles(): Promise<Surface[]> {
  await database.pool.query('checkpoint');
  return filesSince(dataDir.path, startedMs, ['encryption-keys', 'postgres-password', importFile]);
}

async function mutate<Payload>(document: string, token: string, key?: string): Promise<Payload> {
  const headers = key ? { 'idempotency-key': key } : {};
  const { json } = await sendRequest(gateway.url, 'POST', '/graphql', {
    token,
    headers,
    body: { query: `mutation { ${document} }` },
  });
  return Object.values(json.data)[0] as Payload;
}

/** Puts every secret into every part of a request. @returns the statuses of the responses. */
async function sendEverywhere(): Promise<Set<number>> {
  const rotation = `mutation ($t: String!) { rotateUserGroupToken(input: { currentToken: $t, graceSeconds: 5 }) { __typename } }`;
  const update = `mutation ($t: String!) { updateUserGroup(input: { by: { token: $t }, name: $t, properties: { secret: $t } }) { __typename } }`;
  const statuses = new Set<number>();
  const { apiToken = '', groupToken = '' } = secrets;
  for (const [name, secret] of Object.entries(secrets)) {
    if (operatorsOwn.includes(name)) continue;
    const text = encodeURIComponent(secret);
    const replies = await Promise.all([
      sendRequest(gateway.url, 'GET', '/api/user', { token: secret, body: { user_group_id: secret, properties: { secret } } }),
      ...['Bearer', 'Basic', 'Digest', 'Negotiate'].map((scheme) =>
        sendRequest(gateway.url, 'GET', '/api/user', {
          headers: { authorization: `${scheme} ${secret}`, cookie: `token=${secret}`, 'idempotency-key': `${secret}` },
        }),
      ),
      sendRequest(gateway.url, 'POST', '/oauth2/introspect', {
        ...{ token: apiToken, body: `token=${text}` },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
      sendRequest(gateway.url, 'PUT', '/api/user', {
        ...{ token: apiToken, headers: { 'idempotency-key': secret, traceparent: secret, tracestate: `a=${secret}` } },
        body: { user_group_id: secret },
      }),
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

test('stores no secret in the files of the database and its log of changes, whatever is issued, imported, rotated and repeated', async () => {
  const admin = secrets['bootstrap'] as string;
  const creation = `createApiToken(input: { name: "a", environmentTag: TESTING, scopes: ["admin"] }) { ... on CreateApiTokenPayload { secret apiToken { id } } }`;
  const created = await mutate<{ secret: string; apiToken: { id: string } }>(creation, admin, 'key-of-a-creation');
  secrets['replacedApiToken'] = created.secret;
  const rotation = `rotateApiToken(input: { id: "${created.apiToken.id}", overlapSeconds: 600 }) { ... on RotateApiTokenPayload { secret } }`;
  secrets['apiToken'] = (await mutate<{ secret: string }>(rotation, admin, 'key-of-a-rotation')).secret;
  const { apiToken = '' } = secrets;
  expect(
    (await sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, body: { query: '{ caller { name } }' } })).json,
  ).toEqual({
    data: { caller: { name: 'a' } },
  });

  const group = { user_group_id: control };
  const headers = { 'x-request-id': control };
  const first = await sendRequest(gateway.url, 'GET', '/api/user', { token: apiToken, headers, body: group });
  secrets['replacedGroupToken'] = first.json.user_group.token;
  const body = { current_token: first.json.user_group.token };
  const rotated = await sendRequest(gateway.url, 'POST', '/api/user', {
    token: apiToken,
    headers: { 'idempotency-key': 'k' },
    body,
  });
  secrets['graceGroupToken'] = rotated.json.user_group.token;
  const grace = `rotateUserGroupToken(input: { currentToken: "${rotated.json.user_group.token}", graceSeconds: 600 }) { ... on RotateUserGroupTokenPayload { userGroup { token } } }`;
  secrets['groupToken'] = (await mutate<{ userGroup: { token: string } }>(grace, apiToken)).userGroup.token;
  const embed = `createEmbedToken(input: { by: { providedId: "${control}" } }) { ... on CreateEmbedTokenPayload { token } }`;
  secrets['embedToken'] = (await mutate<{ token: string }>(embed, apiToken, 'key-of-an-embed-token')).token;
  for (const [name, secret] of Object.entries(secrets)) expect([name, typeof secret]).toEqual([name, 'string']);

  const file = join(dataDir.path, importFile);
  const lines = ['fail', 'update'].map((id) =>
    JSON.stringify({ user_group_id: id, token: secrets['imported'], environment: 'Testing' }),
  );
  writeFileSync(file, lines[0] ?? '');
  const settings = { DATA_DIR: dataDir.path };
  const imports = [await run(['groups', 'import', file], settings)];
  writeFileSync(file, lines.join('\n'));
  imports.push(await run(['groups', 'import', file, '--on-existing', 'fail'], settings));
  expect(imports.map(({ code }) => code)).toEqual([0, 1]);

  const files = await writtenFiles();
  const names = files.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([expect.stringMatching(/pg_wal\/[0-9A-F]{24}$/), expect.stringMatching(/postgres\.log$/)]),
  );
  const places = findSecrets({ control }, files).join('\n');
  expect(places).toMatch(/control in postgres\/base\//);
  expect(places).toMatch(/control in postgres\/pg_wal\//);
  const output = imports.map(({ stdout, stderr }) => text('groups import', stdout + stderr));
  expect(findSecrets(secrets, [...files, ...output])).toEqual([]);
});

test('shows no secret in the output of doctor, whatever it connects to', async () => {
  const outputs = [
    await run(['doctor'], { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: secrets['bootstrap'] as string }),
    await run(['doctor', '--json'], { DATABASE_URL: dataDir.databaseUrl() }),
    await run(['doctor', '--json'], { DATABASE_URL: elsewhere }),
    await run(['doctor'], {
      DATABASE_URL: `${elsewhere}#`,
      ENCRYPTION_KEYS: `${testKey},${testKey}=`,
      BOOTSTRAP_API_TOKEN: 'short-secret',
    }),
  ];
  expect(outputs.map(({ stdout }) => /encryption-keys|settings/.test(stdout))).toEqual([true, true, true, true]);
  const surfaces = outputs.map(({ stdout, stderr }) => text('doctor', stdout + stderr));
  expect(findSecrets({ ...secrets, short: 'short-secret' }, surfaces)).toEqual([]);
});

test('passes no secret in the arguments of its process and those of PostgreSQL, and none to the environment of PostgreSQL', () => {
  const postmaster = dataDir.postmaster() as number;
  const surfaces = [
    ...processSurfaces(gateway.child.pid as number, ['cmdline']),
    ...processSurfaces(postmaster, ['cmdline', 'environ']),
  ];
  if (process.platform === 'linux')
    expect(findSecrets({ program: 'postgres', command: 'main.js' }, surfaces).length).toBeGreaterThan(3);
  expect(findSecrets(secrets, surfaces)).toEqual([]);
});

test('repeats no secret in the log, metrics, spans and errors, regardless of where it is sent and what fails', async () => {
  const { apiToken = '' } = secrets;
  const query = { query: `query ${control.replaceAll('-', '_')} { __typename }` };
  await sendRequest(gateway.url, 'POST', '/graphql', { token: apiToken, headers: { 'x-request-id': control }, body: query });
  expect(await sendEverywhere()).toContain(401);
  const metrics = await sendRequest(gateway.url, 'GET', '/metrics', { headers: { authorization: `Bearer ${apiToken}` } });
  expect(metrics.text).toContain('operation="updateUserGroup",status="200"');

  // Failures of the gateway's own are logged with their causes: a table that is gone, connections that are cut.
  await database.pool.query('alter table user_group rename to gone; alter table retired_token rename to gone_too');
  expect(await sendEverywhere()).toContain(500);
  await database.pool.query('alter table api_token rename to gone_as_well');
  expect(await sendEverywhere()).toContain(500);
  await until(() => gateway.output.stdout.includes('"error.type":"INTERNAL"'), 'spans of failed requests are printed');
  await gateway.stop();

  expect(gateway.output.stderr.split('\n').filter((line) => line.includes('"INTERNAL"')).length).toBeGreaterThan(20);
  const postgresLog = filesSince(join(dataDir.path, 'postgres'), startedMs, []).filter(({ name }) => name === 'postgres.log');
  const surfaces = [...printed(), text('metrics', metrics.text), ...postgresLog];
  const controls = findSecrets({ control, operation: control.replaceAll('-', '_') }, surfaces).map(
    (found) => found.split(':')[0],
  );
  const outputs = ['standard output', 'standard error'];
  expect(new Set(controls)).toEqual(
    new Set([...outputs.map((name) => `control in ${name}`), ...[...outputs, 'metrics'].map((name) => `operation in ${name}`)]),
  );
  expect(postgresLog).toHaveLength(1);
  expect(findSecrets(secrets, surfaces)).toEqual([]);
});

test.each(['', 'prefix ', '"', '%'])('the search finds a planted secret in each of its forms, after %j', (prefix) => {
  const { bootstrap = '', encryptionKey = '' } = secrets;
  const plants: (string | Buffer)[] = [
    ...[bootstrap, encodeURIComponent(bootstrap), JSON.stringify(bootstrap), Buffer.from(bootstrap).toString('base64')],
    ...[bootstrap.slice(2, -3), encryptionKey, Buffer.from(encryptionKey, 'base64')],
  ];
  for (const plant of plants) {
    const content = Buffer.concat([Buffer.alloc(1_000, 7), Buffer.from(prefix), Buffer.from(plant as string), Buffer.alloc(10)]);
    expect(findSecrets({ bootstrap, encryptionKey }, [{ name: 'a place', content }])).toHaveLength(1);
  }
});
