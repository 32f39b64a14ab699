import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { acceptBootstrapToken, revokeApiToken, rotateApiToken, updateApiToken } from '../../src/api-tokens/api-tokens.ts';
import type { Context } from '../../src/app.ts';
import { migrate } from '../../src/database/migrate.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, launch, run, serve, until } from '../support/process.ts';
import { contextOn } from '../support/queries.ts';
import { readPage } from '../support/snippets.ts';
import { tokensOf } from '../support/tokens.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('template0');
});
afterEach(async () => {
  await endProcesses();
  await database.close();
});

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.runIf(hasCurl())(
  'the first start prints an API token once, with a curl command that works as printed; the next start prints nothing',
  async () => {
    const dataDir = makeDataDir();
    onTestFinished(() => dataDir.remove());
    const first = await serve({ DATA_DIR: dataDir.path });
    const { stdout } = first.output;
    expect(stdout.match(new RegExp(first.firstToken ?? 'none', 'g'))).toHaveLength(2); // alone, and in the curl line
    const line = /^ *(curl .*)$/m.exec(stdout)?.[1] ?? '';

    const results = [await launch('bash', ['-c', line], {}).ended, await launch('bash', ['-c', line], {}).ended];
    for (const { code, stderr } of results) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [created, found] = results.map((result) => JSON.parse(result.stdout));
    expect(created).toMatchObject({ success: 1, new_user_group: true, user_group: { provided_id: 'acme', name: 'ACME' } });
    expect(found).toEqual({ ...created, new_user_group: false });
    const token = first.firstToken ?? '';
    const { json } = await getGroup(first.url, token);
    expect(json.data.caller).toEqual({ environmentTag: 'TESTING', scopes: ['GROUPS_READ', 'GROUPS_WRITE'] });
    // The examples of the README, and the validator.
    const examples = [...readPage('README.md').matchAll(/```graphql\n(.*?)```/gs)].map(([, text = '']) =>
      text.replace('ugt_…', created.user_group.token),
    );
    for (const query of [...examples, '{ validateDocsConfig(input: { source: "{}" }) { valid } }']) {
      const answer = await sendRequest(first.url, 'POST', '/graphql', { token, body: { query } });
      expect(answer).toMatchObject({ status: 200, json: { data: expect.anything() } });
      expect(answer.json).not.toHaveProperty('errors');
    }
    expect(examples).toHaveLength(2);
    expect(await first.stop()).toMatchObject({ code: 0 });

    const admin = /^ *(npm run .* --environment Testing --scope admin)$/m.exec(stdout)?.[1] ?? '';
    const made = await launch('bash', ['-c', admin], { DATA_DIR: dataDir.path }).ended;
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(tokensOf('apiToken')) });

    const second = await serve({ DATA_DIR: dataDir.path });
    expect((await second.stop()).stdout).toBe('');
  },
);

test('serve on a port that is in use touches no database, and the next start is the first one', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await until(() => taken.listening, 'a port is taken');
  const { port } = taken.address() as AddressInfo;
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  for (const settings of [{ DATABASE_URL: database.url }, { DATA_DIR: dataDir.path }]) {
    expect(await run(['serve'], { ...settings, PORT: String(port) })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `Cannot listen on 127.0.0.1:${port}: the address is in use. Stop the program that uses it, or set PORT to a free port.\n`,
    });
  }
  expect((await database.pool.query("select from pg_class where relnamespace = 'public'::regnamespace")).rowCount).toBe(0);
  expect(readdirSync(dataDir.path)).toEqual([]);

  const next = await serve({ DATABASE_URL: database.url });
  expect((await getGroup(next.url, next.firstToken ?? '')).status).toBe(200);
});

test('accepts BOOTSTRAP_API_TOKEN as admin from the first start, and creates no other API token', async () => {
  const settings = { DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: 'an-operators/own+choice=2026' };
  for (const _ of ['first start', 'second start']) {
    const gateway = await serve(settings);
    const { json } = await getGroup(gateway.url, settings.BOOTSTRAP_API_TOKEN);
    expect(json.data.caller).toEqual({ environmentTag: null, scopes: ['ADMIN'] });
    const ended = await gateway.stop();
    expect(ended.stdout).toBe('');
    expect(ended.stderr).not.toContain(settings.BOOTSTRAP_API_TOKEN);
  }
  expect(await database.prisma.apiToken.count()).toBe(1);
});

test('the compiled gateway contains the validator and the playground', async () => {
  const token = 'an-operators/own+choice=2026';
  const { url } = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: token });
  const query = 'query ($source: String) { validateDocsConfig(input: { source: $source }) { valid } }';
  const source = '{"name": "a", "navigation": []}';
  const { json } = await sendRequest(url, 'POST', '/graphql', { token, body: { query, variables: { source } } });
  expect(json).toEqual({ data: { validateDocsConfig: { valid: true } } });
  const playground = await sendRequest(url, 'GET', '/graphql', { headers: { accept: 'text/html' } });
  expect(playground.status).toBe(200);
});

test.runIf(process.platform !== 'win32')(
  'a failure that no code handles is logged and counted, and does not end the process',
  async () => {
    const fail = "process.on('SIGUSR2', () => Promise.reject(new Error('nobody waits for this')))";
    const settings = { DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: 'an-operators/own+choice=2026' };
    const gateway = await serve({ ...settings, NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(fail)}"` });
    gateway.child.kill('SIGUSR2');
    const line = await until(() => /^.*nobody waits for this.*$/m.exec(gateway.output.stderr)?.[0], 'the failure is logged');
    expect(JSON.parse(line)).toMatchObject({ level: 'error', msg: expect.stringMatching(/^a failure was not handled/) });
    const metrics = await sendRequest(gateway.url, 'GET', '/metrics', { token: settings.BOOTSTRAP_API_TOKEN });
    expect(metrics.text).toMatch(/^gateway_unhandled_failures_total 1$/m);
    expect((await gateway.stop()).code).toBe(0);
  },
);

test.each<[string, (context: Context, id: number) => Promise<unknown>, number, RegExp]>([
  ['revoked', revokeApiToken, 401, /The API token is revoked/],
  ['disabled', (context, id) => updateApiToken(context, id, { enabled: false }), 401, /The API token is disabled/],
  ['replaced', (context, id) => rotateApiToken(context, id, 0), 401, /The secret of the API token was replaced/],
  [
    'lesser',
    ({ db }, id) => db.apiToken.update({ where: { id }, data: { scopes: ['groups:read'] } }),
    200,
    /lacks the scope admin/,
  ],
])('a %s BOOTSTRAP_API_TOKEN stays what it is when the gateway restarts, which logs it', async (_, change, status, warning) => {
  await migrate(database);
  const context = contextOn(database);
  const secret = 'an-operators/own+choice=2026';
  await acceptBootstrapToken(context, secret);
  const { id } = await database.prisma.apiToken.findFirstOrThrow();
  await change(context, id);
  const gateway = await serve({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: secret });
  expect((await getGroup(gateway.url, secret)).status).toBe(status);
  expect(await database.prisma.apiToken.count()).toBe(1);
  const { stderr } = await gateway.stop();
  expect(stderr).toMatch(/"level":"warn".*BOOTSTRAP_API_TOKEN is the API token #1, .*Set BOOTSTRAP_API_TOKEN to another value/);
  expect(stderr).toMatch(warning);
  expect(stderr).not.toContain(secret);
});

test('reports every invalid setting at once by name, starts nothing, and prints no value', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  const settings = {
    PORT: '65536',
    DATABASE_URL: 'mysql://somebody:pass-word@db.example/gateway',
    BOOTSTRAP_API_TOKEN: `${tokenPrefixes.apiToken}mistyped0000000000000000000000000000`,
    LOG_LEVEL: 'verbose',
    LOG_FORMAT: 'xml',
    DRAIN_DELAY_SECONDS: '301',
    DATA_DIR: dataDir.path,
  };
  for (const command of [['serve'], ['token', 'list']]) {
    const { code, stdout, stderr } = await run(command, settings);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const name of ['PORT', 'DATABASE_URL', 'BOOTSTRAP_API_TOKEN', 'LOG_LEVEL', 'LOG_FORMAT', 'DRAIN_DELAY_SECONDS']) {
      expect(stderr.split('\n').filter((line) => line.includes(`${name} `))).toHaveLength(1);
    }
    expect(stderr).not.toMatch(/pass-word|mistyped0|\n\s+at /);
  }
  expect(dataDir.postmaster()).toBeUndefined();
  expect(readdirSync(dataDir.path)).toEqual([]);
});

/** Who the gateway takes the holder of a secret for. */
function getGroup(url: string, token: string) {
  return sendRequest(url, 'POST', '/graphql', { token, body: { query: '{ caller { environmentTag scopes } }' } });
}
