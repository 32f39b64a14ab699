import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { sendRequest } from '../support/gateway.ts';
import { endProcesses, launch, type Running, serve, until, untilServing } from '../support/process.ts';

afterAll(endProcesses);

const binary = 'dist/main.js';

/** Runs a command whose standard output nothing reads any more. */
function runWithoutReader(args: string[], settings = {}): Running {
  const running = launch(process.execPath, [binary, ...args], settings);
  running.child.stdout?.destroy();
  return running;
}

test.concurrent.each([[['help']], [['token', '--help']], [['docs-config', 'schema']], [['docs-config', 'explain', 'enum']]])(
  '%j: when nothing reads the output any more, exits with 1 and prints nothing',
  async (args) => {
    expect(await runWithoutReader(args).ended).toMatchObject({ code: 1, signal: null, stderr: '' });
  },
);

test('the exit code of a command that fails stays', async () => {
  expect(await runWithoutReader(['docs-config', 'check', 'package.json', 'none.json']).ended).toMatchObject({
    code: 2,
    stderr: 'none.json: No such file.\n',
  });
});

test.runIf(process.platform === 'linux')('says why the output could not be written', async () => {
  const { code, stderr } = await launch('bash', ['-c', `exec "${process.execPath}" ${binary} help >/dev/full`], {}).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'Cannot write to standard output: ENOSPC: no space left on device, write\n',
  });
});

test.runIf(process.platform === 'linux')(
  'an export to a standard output that is closed is refused; one to the null device is made',
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const exportTo = (output: string) =>
      launch('bash', ['-c', `exec "${process.execPath}" ${binary} groups export ${output}`], { DATABASE_URL: database.url })
        .ended;
    expect(await exportTo('>&-')).toMatchObject({
      code: 2,
      stderr: 'Standard output is closed. Nothing was exported. Redirect it, or name a file with --output.\n',
    });
    expect(await exportTo('>/dev/null')).toMatchObject({ code: 0, stderr: 'Exported 0 groups.\n' });
  },
);

test.runIf(process.platform === 'linux')(
  'what would be lost with a standard output that is closed is not begun: nothing is changed',
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const runIn = (command: string) =>
      launch('bash', ['-c', `exec "${process.execPath}" ${binary} ${command}`], { DATABASE_URL: database.url }).ended;
    expect((await runIn('token create --name a --environment none')).code).toBe(0);
    const { prisma } = database;
    const stored = () => Promise.all([prisma.apiToken.findMany(), prisma.webhook.findMany()]);
    const before = await stored();
    for (const command of [
      'token create --name b --environment none',
      'token rotate 1',
      'webhooks create --url https://example.com/hook',
    ]) {
      const stderr = 'Standard output is closed. Nothing was changed, because the secret is shown only there. Redirect it.\n';
      expect(await runIn(`${command} >&-`)).toMatchObject({ code: 2, stderr });
    }
    expect(await stored()).toEqual(before);
  },
);

test('a program that needs only the exit status may discard the output as Node.js does', async () => {
  const args = [binary, 'docs-config', 'check', 'package.json'];
  const { code, stderr } = await launch(process.execPath, args, {}, { stdio: ['ignore', 'ignore', 'pipe'] }).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
});

/**
 * Runs a command whose standard output, or standard error, is a file that takes `free` more bytes. A write that goes beyond them
 * is a short one, as when a disk becomes full in the middle of it. The limit for files stands for the disk: it needs no rights.
 */
async function runOnFullDisk(command: string, free: number, settings = {}, output = '>>') {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-full-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'output');
  writeFileSync(file, '.'.repeat(1_024 - free));
  const script = `ulimit -f 1; exec "${process.execPath}" ${binary} ${command} ${output} ${file}`;
  const { code, stderr } = await launch('bash', ['-c', script], settings).ended;
  return { code, stderr, written: readFileSync(file, 'utf8').slice(1_024 - free) };
}

const noSpace = 'Cannot write to standard output: EFBIG: file too large, write\n';

test.runIf(process.platform === 'linux')('a file that takes only the beginning of the output is an error', async () => {
  for (const command of ['help', 'doctor --help', 'docs-config schema'])
    expect(await runOnFullDisk(command, 26)).toMatchObject({
      code: 1,
      stderr: noSpace,
      written: expect.stringMatching(/^.{26}$/s),
    });
  const whole = await runOnFullDisk('version', 26);
  expect(whole).toMatchObject({ code: 0, stderr: '', written: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test.runIf(process.platform === 'linux')(
  'what cannot be had again is an error when a file takes only its beginning, and says what to do',
  async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const settings = { DATABASE_URL: database.url };
    for (const [command, remedy] of [
      ['token create --name a --environment none --json', /token rotate 1/],
      ['token rotate 1 --json', /token rotate 1/],
      ['webhooks create --url https://example.com/hook --json', /webhooks delete 1/],
    ] as const) {
      const { code, stderr } = await runOnFullDisk(command, 26, settings);
      expect([code, stderr]).toEqual([1, expect.stringMatching(remedy)]);
      expect(stderr).toContain('EFBIG');
    }

    const rows = ['a', 'b', 'c'].map((id) => `${id},${'n'.repeat(100)}\\n`).join('');
    const source = `printf 'user_group_id,name\\n${rows}'`;
    await launch(
      'bash',
      ['-c', `${source} | "${process.execPath}" ${binary} groups import - --format csv --environment none`],
      settings,
    ).ended;
    const exported = await runOnFullDisk('groups export', 300, settings);
    expect(exported).toMatchObject({ code: 1, stderr: expect.stringContaining(noSpace) });
    expect(exported.stderr).not.toContain('Exported');
    expect(exported.written).toHaveLength(300);
  },
);

test.runIf(process.platform === 'linux').each(['>&-', '>/dev/full'])(
  'a first start that cannot print its API token logs how to get another one (%s)',
  async (output) => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const script = `exec "${process.execPath}" ${binary} serve ${output}`;
    const serving = await untilServing(launch('bash', ['-c', script], { DATABASE_URL: database.url }));
    const { code, stderr } = await serving.stop();
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/"level":"error".*secret of the API token #1 was not shown.*token rotate 1/),
    ]);
  },
);

test('serve keeps running when its output is no longer read, and reports it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const serving = await untilServing(runWithoutReader(['serve'], { DATABASE_URL: database.url }));
  expect(await serving.stop()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Cannot write to standard output: write EPIPE'),
  });
});

test('serve keeps running while its log is not read, drops lines beyond its buffer, and reports how many; it also stops without a reader', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const running = await serve({ DATABASE_URL: database.url, LOG_REQUESTS: '1' });
  const requests = async (): Promise<void> => {
    const headers = { 'x-request-id': 'x'.repeat(128) };
    for (let count = 0; count < 300; count += 1)
      expect((await sendRequest(running.url, 'GET', '/livez', { headers })).status).toBe(200);
  };
  running.child.stderr?.pause();
  await Promise.all(Array.from({ length: 20 }, requests));
  running.child.stderr?.resume();
  const [, dropped] = await until(
    () => /"dropped":(\d+),"msg":"log lines were dropped/.exec(running.output.stderr),
    'the log says how many lines were dropped',
  );
  const logged = running.output.stderr.match(/"msg":"request"/g)?.length ?? 0;
  expect(logged + Number(dropped)).toBe(6_001); // and the one that `serve` sent

  running.child.stderr?.pause();
  await Promise.all(Array.from({ length: 20 }, requests));
  const exited = once(running.child, 'exit');
  running.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
