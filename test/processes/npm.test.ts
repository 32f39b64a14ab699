import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { sendRequest } from '../support/gateway.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { endProcesses, launch, type Running, run, until, untilServing } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';

const token = 'bootstrap-token-of-the-npm-test';
let dataDir: TestDataDir;
beforeAll(() => {
  dataDir = copyDataDir();
});
afterEach(endProcesses);
afterAll(() => dataDir.remove());

const toNpm = ({ child }: Running) => child.kill('SIGTERM');
const toAll = (signal: NodeJS.Signals) => (running: Running) => process.kill(-(running.child.pid ?? Number.NaN), signal);

test.each([
  { what: 'SIGTERM to npm, as a supervisor sends it', stop: toNpm },
  { what: 'Ctrl-C, which sends SIGINT to npm and the gateway', stop: toAll('SIGINT') },
  { what: 'SIGTERM to every process, as systemd sends it', stop: toAll('SIGTERM') },
])('npm start, $what: completes requests in flight and stops PostgreSQL last', async ({ what, stop }) => {
  const settings = { DATA_DIR: dataDir.path, BOOTSTRAP_API_TOKEN: token };
  const gateway = await untilServing(launch('npm', ['start'], settings, { detached: true }));
  const postmaster = dataDir.postmaster() ?? 0;
  const held = await holdWrites(dataDir.databaseUrl());
  const reply = sendRequest(gateway.url, 'GET', '/api/user', {
    token,
    body: { user_group_id: what },
  });
  await held.untilOneWaits();

  stop(gateway);
  await until(() => gateway.output.stderr.includes('draining in-flight requests'), 'the gateway drains');
  expect(isAlive(postmaster)).toBe(true);
  await held.release();
  expect((await reply).status).toBe(200);
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null });
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
  const commands = [
    ...['create', 'list', 'rotate', 'update'].map((name) => ['token', name]),
    ...['create', 'deliveries', 'redeliver'].map((name) => ['webhooks', name]),
    ...['groups import', 'groups export', 'keys list', 'listen', 'doctor', 'backup', 'docs-config check'].map((text) =>
      text.split(' '),
    ),
  ];
  const helps: string[] = [];
  for (const command of commands) helps.push((await run([...command, '--help'], {})).stdout);
  const names = new Set(
    helps.flatMap((help) => [...help.matchAll(/^ +(?:-\w, )?--([a-z][a-z-]+)/gm)].map(([, name = '']) => name)),
  );
  names.delete('help');
  expect(names.size).toBeGreaterThan(25);
  const options = /'((?:[a-z-]+ )+)' \+\n\s+'((?:[a-z-]+ )*[a-z-]+)'/.exec(readFileSync('scripts/gateway.js', 'utf8'));
  expect(`${options?.[1]}${options?.[2]}`.split(' ')).toEqual(expect.arrayContaining([...names]));
  const start = (settings: Record<string, string>) =>
    launch(process.execPath, ['scripts/gateway.js', '--version'], settings).ended;
  expect(await start({ npm_config_expires_in: '7d' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm has taken --expires-in for'),
  });
  expect(await start({ npm_config_scope: '@company' })).toMatchObject({ code: 0 });
});
