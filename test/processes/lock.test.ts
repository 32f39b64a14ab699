import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endProcesses, launch, type Running, until } from '../support/process.ts';

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
  const imports = `import { acquireLock } from '${pathToFileURL('scripts/lock.js').href}'; import * as fs from 'node:fs';`;
  const program = `${imports} const file = ${JSON.stringify(file)}; ${script}`;
  return launch(process.execPath, ['--input-type=module', '--eval', program], {});
}

test('says what it waits for', async () => {
  writeFileSync(file, String(process.pid));
  const waiting = start('acquireLock(file, 0)();');
  await until(() => waiting.output.stderr, 'a notice is printed');
  rmSync(file);
  const stderr = `Waiting for process ${process.pid} to finish its setup. If it runs none, delete ${file}.\n`;
  expect(await waiting.ended).toMatchObject({ code: 0, stderr });
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
  for (const { ended } of [start(script), start(script), start(script)])
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
});
