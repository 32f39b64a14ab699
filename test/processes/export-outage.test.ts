import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { groups } from '../../src/commands/groups.ts';
import { type BundledServer, startServerOn } from '../support/bundled-server.ts';
import { copyDataDir, type TestDataDir } from '../support/data-dir.ts';
import { testKey } from '../support/keys.ts';
import { endProcesses, run } from '../support/process.ts';
import { descendants, isAlive } from '../support/processes.ts';

const groupCount = 3_000;
let dataDir: TestDataDir;
let server: BundledServer;
let settings: { readonly DATABASE_URL: string; readonly ENCRYPTION_KEYS: string };

beforeAll(async () => {
  if (process.platform !== 'linux') return;
  dataDir = copyDataDir();
  const sockets = join(dataDir.path, 'postgres'); // a folder of the server's user
  server = await startServerOn(dataDir.path, ['fsync=off', `unix_socket_directories=${sockets}`]);
  const [user = '', password = ''] = server.user.split(':');
  const { pathname } = new URL(server.url);
  settings = {
    DATABASE_URL: `postgresql://${user}:${password}@localhost:${server.port}${pathname}?host=${sockets}`,
    ENCRYPTION_KEYS: testKey,
  };
  const file = join(dataDir.path, 'groups.csv');
  writeFileSync(file, ['user_group_id', ...Array.from({ length: groupCount }, (_, index) => `g${index}`)].join('\n'));
  const imported = await run(['groups', 'import', file, '--environment', 'none'], settings);
  expect(imported.code, imported.stderr).toBe(0);
});
afterAll(async () => {
  await endProcesses();
  await server?.remove();
  await dataDir?.remove();
});

/** Ends the connections over the Unix socket, before this process can notice. */
function endConnections(): void {
  const backends = descendants(server.pid() as number).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('[local]'),
  );
  expect(backends).not.toEqual([]);
  for (const pid of backends) process.kill(pid, 'SIGTERM');
  while (backends.some(isAlive));
}

test.runIf(process.platform === 'linux')(
  'a Unix socket that the database closes is a failure of the export, not a reader that has left',
  async () => {
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    let lines = 0;
    const stdout = new Writable({
      write(chunk: Buffer, _, done) {
        if (lines === 0) endConnections();
        lines += chunk.toString().split('\n').length - 1;
        done();
      },
    });
    const exported = groups(['export'], { stdin: new PassThrough(), stdout, stderr: new PassThrough() });
    await expect(exported).rejects.toThrow('The database is unavailable: ');
    expect(lines).toBeLessThan(groupCount);
  },
);
