import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makeDataDir } from '../support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endProcesses, launch, run, serve, until } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';
import { tokensOf } from '../support/tokens.ts';

const secret = 'an-operators/own+choice=2026';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase('template0');
});
afterEach(async () => {
  await endProcesses();
  await database.close();
});

const settings = () => ({ DATABASE_URL: database.url, BOOTSTRAP_API_TOKEN: secret });
const ask = (url: string, token: string, query = '{ caller { environmentTag scopes } }') =>
  sendRequest(url, 'POST', '/graphql', { token, body: { query } });

test.runIf(spawnSync('curl', ['--version']).status === 0)(
  'the first start prints an API token once, with a curl command that works as printed; the next start prints nothing',
  async () => {
    const dataDir = makeDataDir();
    onTestFinished(() => dataDir.remove());
    const first = await serve({ DATA_DIR: dataDir.path });
    const { stdout } = first.output;
    const token = first.firstToken ?? '';
    expect(stdout.match(new RegExp(token, 'g'))).toHaveLength(2); // alone, and in the curl line
    const line = /^ *(curl .*)$/m.exec(stdout)?.[1] ?? '';
    const results = [await launch('bash', ['-c', line], {}).ended, await launch('bash', ['-c', line], {}).ended];
    const [created, found] = results.map((result) => JSON.parse(result.stdout));
    expect(created).toMatchObject({ success: 1, new_user_group: true, user_group: { provided_id: 'acme', name: 'ACME' } });
    expect(found).toEqual({ ...created, new_user_group: false });
    const { json } = await ask(first.url, token);
    expect(json.data.caller).toEqual({ environmentTag: 'TESTING', scopes: ['GROUPS_READ', 'GROUPS_WRITE'] });
    const validated = await ask(first.url, token, '{ validateDocsConfig(input: { source: "{}" }) { valid } }');
    expect(validated.json).toEqual({ data: { validateDocsConfig: { valid: false } } });
    expect(await first.stop()).toMatchObject({ code: 0 });
    const admin = /^ *(npm run .* --environment Testing --scope admin)$/m.exec(stdout)?.[1] ?? '';
    const made = await launch('bash', ['-c', admin], { DATA_DIR: dataDir.path }).ended;
    expect(made.stdout).toMatch(tokensOf('apiToken'));
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
  const stderr = `Cannot listen on 127.0.0.1:${port}: the address is in use. Stop the program that uses it, or set PORT to a free port.\n`;
  for (const given of [{ DATABASE_URL: database.url }, { DATA_DIR: dataDir.path }])
    expect(await run(['serve'], { ...given, PORT: String(port) })).toMatchObject({ code: 1, stdout: '', stderr });
  expect(readdirSync(dataDir.path)).toEqual([]);
  const next = await serve({ DATABASE_URL: database.url });
  expect((await ask(next.url, next.firstToken ?? '')).status).toBe(200);
});

test('accepts BOOTSTRAP_API_TOKEN as admin from the first start, and creates no other; the compiled gateway has every page', async () => {
  for (const _ of ['first start', 'second start']) {
    const gateway = await serve(settings());
    expect((await ask(gateway.url, secret)).json.data.caller).toEqual({ environmentTag: null, scopes: ['ADMIN'] });
    const html = { accept: 'text/html' };
    for (const path of ['/', '/graphql', '/console', '/docs/api'])
      expect((await sendRequest(gateway.url, 'GET', path, { headers: html })).status, path).toBe(200);
    const ended = await gateway.stop();
    expect(ended.stdout).toBe('');
    expect(ended.stderr).not.toContain(secret);
  }
  expect(await database.prisma.apiToken.count()).toBe(1);
});

test.runIf(process.platform !== 'win32')(
  'a failure that no code handles is logged and counted, and does not end the process',
  async () => {
    const fail = "process.on('SIGUSR2', () => Promise.reject(new Error('nobody waits for this')))";
    const NODE_OPTIONS = `--import "data:text/javascript,${encodeURIComponent(fail)}"`;
    const gateway = await serve({ ...settings(), NODE_OPTIONS });
    gateway.child.kill('SIGUSR2');
    const line = await until(() => /^.*nobody waits for this.*$/m.exec(gateway.output.stderr)?.[0], 'the failure is logged');
    expect(JSON.parse(line)).toMatchObject({ level: 'error', msg: expect.stringMatching(/^a failure was not handled/) });
    const metrics = await sendRequest(gateway.url, 'GET', '/metrics', { token: secret });
    expect(metrics.text).toMatch(/^gateway_unhandled_failures_total 1$/m);
  },
);

test('a BOOTSTRAP_API_TOKEN that was revoked stays so when the gateway restarts, which logs it', async () => {
  await (await serve(settings())).stop();
  expect(await run(['token', 'revoke', '1'], settings())).toMatchObject({ code: 0 });
  const gateway = await serve(settings());
  expect((await ask(gateway.url, secret)).status).toBe(401);
  expect(gateway.output.stderr).toMatch(/"level":"warn".*BOOTSTRAP_API_TOKEN is the API token #1, .* Set BOOTSTRAP_API_TOKEN to/);
});

test('reports every invalid setting at once by name, starts nothing, and prints no value', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => dataDir.remove());
  const wrong = {
    PORT: '65536',
    DATABASE_URL: 'mysql://somebody:pass-word@db.example/gateway',
    BOOTSTRAP_API_TOKEN: 'ugk_mistyped0000000000000000000000000000',
    LOG_LEVEL: 'verbose',
    DRAIN_DELAY_SECONDS: '301',
  };
  for (const command of [['serve'], ['token', 'list']]) {
    const { code, stdout, stderr } = await run(command, { ...wrong, DATA_DIR: dataDir.path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const name of Object.keys(wrong)) expect(stderr.match(new RegExp(`^.*${name} `, 'gm')), name).toHaveLength(1);
    expect(stderr).not.toMatch(/pass-word|mistyped0|\n\s+at /);
  }
  expect(readdirSync(dataDir.path)).toEqual([]);
});
