import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { endProcesses, launch, run, until, untilServing } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

const token = 'bootstrap-token-of-the-npm-test';
let dataDir: TestDataDir;
beforeAll(() => {
  dataDir = copyDataDir();
});
afterEach(endProcesses);
afterAll(() => dataDir.remove());

test.each([
  ['SIGTERM', 1, 'to npm, as a supervisor sends it'],
  ['SIGINT', -1, 'to npm and the gateway, as Ctrl-C sends it'],
] as const)('npm start, %s: completes requests in flight and stops PostgreSQL last', async (signal, whom, _) => {
  const settings = { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token };
  const gateway = await untilServing(launch('npm', ['start'], settings, { detached: true }));
  const held = await holdWrites(dataDir.databaseUrl());
  const reply = sendRequest(gateway.url, 'GET', '/api/user', { token, body: { user_group_id: signal } });
  await held.untilOneWaits();
  process.kill(whom * (gateway.child.pid ?? Number.NaN), signal);
  await until(() => gateway.output.stderr.includes('draining in-flight requests'), 'the gateway drains');
  expect(dataDir.postmaster()).toBeDefined();
  await held.release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
  expect(gateway.output.stderr).toContain('"stopped"');
  expect(dataDir.postmaster()).toBeUndefined();
});

test('npm run gateway adds no output; without --, so that npm takes an option for itself, does nothing; a scope of its configuration is none', async () => {
  const stderr =
    'npm has taken --dry-run for itself, or it is in an .npmrc. Write -- first: npm run -s gateway -- COMMAND --dry-run …\n';
  const version = await launch('npm', ['run', '-s', 'gateway', '--', '--version'], {}).ended;
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' });
  const ended = await launch('npm', ['run', '-s', 'gateway', 'groups', 'import', 'groups.csv', '--dry-run'], {}).ended;
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr });
  const scoped = { npm_config_scope: '@company' };
  expect(await launch(process.execPath, ['scripts/gateway.js', '--version'], scoped).ended).toMatchObject({ code: 0 });
});

test('the script knows every option of the commands', async () => {
  const names = new Set<string>();
  for (const command of [
    ...['create', 'list', 'rotate', 'update'].map((name) => `token ${name}`),
    ...['create', 'deliveries', 'redeliver'].map((name) => `webhooks ${name}`),
    ...['groups import', 'groups export', 'keys list', 'listen', 'doctor', 'backup', 'docs-config check'],
  ]) {
    const { stdout } = await run([...command.split(' '), '--help'], {});
    for (const [, name = ''] of stdout.matchAll(/^ +(?:-\w, )?--([a-z][a-z-]+)/gm)) names.add(name);
  }
  names.delete('help');
  expect(names.size).toBeGreaterThan(25);
  const [, known = ''] = /const options =([^;]*);/.exec(readFileSync('scripts/gateway.js', 'utf8')) ?? [];
  expect(known.match(/[a-z-]+/g)).toEqual(expect.arrayContaining([...names]));
});
