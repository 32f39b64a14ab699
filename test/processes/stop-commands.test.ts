import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { makeKeyedDataDir } from '../support/embedded-gateway.ts';
import { binary, endProcesses, launch, run, serve, until } from '../support/process.ts';

afterEach(endProcesses);

function embedded() {
  const dataDir = makeKeyedDataDir();
  onTestFinished(() => dataDir.remove());
  return { dataDir, settings: { DATA_DIR: dataDir.path } };
}

const start = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
  launch(process.execPath, [binary, ...args], settings);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)(
  'after %s, token create prints the secret that it was creating, ends with %i, and stops the bundled PostgreSQL',
  async (signal, code) => {
    const { dataDir, settings } = embedded();
    // Leaves its PostgreSQL running, for a transaction that the command waits for.
    const killed = await serve(settings);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const client = new pg.Client(dataDir.databaseUrl());
    await client.connect();
    await client.query('begin; lock table api_token in share row exclusive mode');
    const { child, ended } = start(settings, 'token', 'create', '--name=wanted', '--environment=none');
    await until(async () => (await client.query('select from pg_locks where not granted')).rowCount, 'the command waits');
    child.kill(signal);
    await client.query('rollback');
    await client.end();
    expect(await ended).toMatchObject({ code, stdout: expect.stringMatching(/wanted.*ugk_/s), stderr: '' });
    expect(dataDir.postmaster()).toBeUndefined();
  },
);

test('SIGTERM ends a rotation of the encryption key, which the same command completes, and stops the bundled PostgreSQL', async () => {
  const { dataDir, settings } = embedded();
  const rotate = ['keys', 'rotate', 'encryption'];
  const { child, ended } = start(settings, ...rotate);
  const keys = () => readFileSync(join(dataDir.path, 'encryption-keys'), 'utf8').trim().split('\n');
  await until(() => keys().length === 2, 'there is another key');
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143, stdout: '', stderr: 'Stopped by SIGTERM.\n' });
  expect(dataDir.postmaster()).toBeUndefined();
  expect(await run(rotate, settings)).toMatchObject({ code: 0, stderr: '' });
});
