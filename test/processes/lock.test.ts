import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ended, endProcesses, launch, type Running, until } from '../support/process.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-test-'));
  file = join(folder, 'lock');
});
afterEach(async () => {
  await endProcesses();
  rmSync(folder, { recursive: true });
});

/** No process has it: the largest id of Linux is 4,194,304. */
const deadPid = '99999999';

/** Runs a script that has `acquireLock`, `file`, and the file system's functions. */
function start(script: string): Running {
  const imports = `import { acquireLock } from ${JSON.stringify(pathToFileURL('scripts/lock.js').href)}; import * as fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';`;
  const program = `${imports} const file = ${JSON.stringify(file)}; ${script}`;
  return launch(process.execPath, ['--input-type=module', '--eval', program], {});
}

const runs = (script: string): Promise<Ended> => start(script).ended;
const succeeds = { code: 0, stderr: '' };

test('is a file with the process id, which is gone after the release', async () => {
  const script = `const release = acquireLock(file); process.stdout.write(String(fs.readFileSync(file) == process.pid)); release();`;
  expect(await runs(script)).toMatchObject({ ...succeeds, stdout: 'true' });
  expect(readdirSync(folder)).toEqual([]);
});

test('is released when the process exits', async () => {
  expect(await runs('acquireLock(file); process.exit(0);')).toMatchObject(succeeds);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['a process that no longer exists', `'${deadPid}'`],
  ['an earlier process with the same id, as in a restarted container', 'String(process.pid)'],
])('takes over the lock of %s', async (_, pid) => {
  expect(await runs(`fs.writeFileSync(file, ${pid}); acquireLock(file)();`)).toMatchObject(succeeds);
  expect(readdirSync(folder)).toEqual([]);
});

test('a process that exits after its release leaves the lock of another one', async () => {
  expect(await runs(`acquireLock(file)(); fs.writeFileSync(file, '1');`)).toMatchObject(succeeds);
  expect(readFileSync(file, 'utf8')).toBe('1');
});

test('says what it waits for', async () => {
  writeFileSync(file, String(process.pid));
  const waiting = start('acquireLock(file, 0)();');
  await until(() => waiting.output.stderr, 'a notice is printed');
  rmSync(file);
  const { code, stderr } = await waiting.ended;
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Waiting for process ${process.pid} to finish its setup. If it runs none, delete ${file}.\n`,
  });
});

test('of processes that take over one stale lock, one at a time holds it', async () => {
  // Each leaves a stale lock behind, so that the next holder takes over as well.
  const script = `
    for (let round = 0; round < 50; round += 1) {
      const release = acquireLock(file);
      fs.writeFileSync(file + '.inside', '', { flag: 'wx' });
      fs.rmSync(file + '.inside');
      fs.writeFileSync(file, '${deadPid}');
      release();
    }`;
  writeFileSync(file, deadPid);
  for (const ended of await Promise.all([runs(script), runs(script), runs(script)])) expect(ended).toMatchObject(succeeds);
});
