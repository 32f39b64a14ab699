import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { endProcesses, launch, type Running, run, until, untilServing } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';

const token = 'bootstrap-token-of-the-npm-test';
let dataDir: TestDataDir;
/** A shell that starts what it is given in another process and passes no signal on, as some systems' `sh` does. */
let shellInBetween: string;

beforeAll(() => {
  dataDir = copyDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  shellInBetween = join(folder, 'shell.sh');
  writeFileSync(shellInBetween, '#!/bin/sh\n/bin/sh "$@"\nexit $?\n');
  chmodSync(shellInBetween, 0o755);
});
afterEach(endProcesses);
afterAll(async () => {
  await dataDir.remove();
  rmSync(dirname(shellInBetween), { recursive: true });
});

const toNpm = ({ child }: Running) => child.kill('SIGTERM');
const toAll = (signal: NodeJS.Signals) => (running: Running) => process.kill(-(running.child.pid ?? Number.NaN), signal);

// npm itself ends by the signal when its shell does; otherwise its exit code is the gateway's.
test.each([
  { what: 'SIGTERM to npm, as a supervisor sends it', shell: '', stop: toNpm, end: { code: 0, signal: null } },
  { what: 'Ctrl-C, which sends SIGINT to npm and the gateway', shell: '', stop: toAll('SIGINT'), end: { code: 0, signal: null } },
  { what: 'SIGTERM to every process, as systemd sends it', shell: '', stop: toAll('SIGTERM'), end: { code: 0, signal: null } },
  { what: 'SIGTERM to npm, whose shell keeps it', shell: 'in between', stop: toNpm, end: { signal: 'SIGTERM' } },
  { what: 'Ctrl-C, with such a shell', shell: 'in between', stop: toAll('SIGINT'), end: { signal: 'SIGINT' } },
])('npm start, $what: completes requests in flight and stops PostgreSQL last', async ({ shell, stop, end }) => {
  const settings = {
    DATA_DIR: dataDir.path,
    BOOTSTRAP_API_TOKEN: token,
    ...(shell && { npm_config_script_shell: shellInBetween }),
  };
  const gateway = await untilServing(launch('npm', ['start'], settings, { detached: true }));
  const postmaster = dataDir.postmaster() ?? 0;
  const held = await holdWrites(dataDir.databaseUrl());
  const reply = sendRequest(gateway.url, 'GET', '/api/user', {
    token,
    body: { user_group_id: `${shell} ${end.signal} ${stop.name}` },
  });
  await held.untilOneWaits();

  stop(gateway);
  await until(() => gateway.output.stderr.includes('draining in-flight requests'), 'the gateway drains');
  expect(isAlive(postmaster)).toBe(true);
  await held.release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject(end);
  expect(gateway.output.stderr).toContain('"stopped"');
  expect(dataDir.postmaster()).toBeUndefined();
  expect(isAlive(postmaster)).toBe(false);
});

test('npm run gateway, in a folder below the checkout, says where relative paths begin', async () => {
  const args = ['run', '-s', 'gateway', '--', '--version'];
  const stderrIn = async (cwd: string) => (await launch('npm', args, {}, { cwd }).ended).stderr;
  expect(await stderrIn(process.cwd())).toBe('');
  expect(await stderrIn(join(process.cwd(), 'docs'))).toBe(
    `Relative paths, such as of files to read or write, begin in ${process.cwd()}.\n`,
  );
});

test('npm run gateway without --, so that npm takes an option for itself, does nothing', async () => {
  const args = ['run', '-s', 'gateway', 'groups', 'import', 'groups.csv', '--dry-run'];
  expect(await launch('npm', args, {}).ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      'npm has taken --dry-run for itself, or it is in an .npmrc. Write -- first: npm run -s gateway -- COMMAND --dry-run …\n',
  });
});

test('every option of the commands is refused where npm has taken it, and a scope of its configuration is not', async () => {
  const commands = ['serve', 'token', 'webhooks', 'groups', 'keys', 'listen', 'doctor', 'backup', 'restore', 'docs-config'];
  const helps = await Promise.all(commands.map((command) => run([command, '--help'], {})));
  const names = new Set(helps.flatMap(({ stdout }) => [...stdout.matchAll(/--([a-z][a-z-]+)/g)].map(([, name = '']) => name)));
  expect(names.size).toBeGreaterThan(25);
  const start = (name: string, value: string) =>
    launch(process.execPath, ['scripts/gateway.js', 'version'], { [`npm_config_${name.replaceAll('-', '_')}`]: value }).ended;
  for (const name of names) {
    if (name === 'help' || name === 'version') continue;
    expect(await start(name, '7d'), name).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`npm has taken --${name} for`),
    });
  }
  expect(await start('scope', '@company')).toMatchObject({ code: 0 });
});
