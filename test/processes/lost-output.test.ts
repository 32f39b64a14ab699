import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { endProcesses, launch, type Running, untilServing } from '../support/process.ts';

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

test('serve goes on when nothing reads its output any more, and says so', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  const serving = await untilServing(runWithoutReader(['serve'], { DATABASE_URL: database.url }));
  expect(await serving.stop()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Cannot write to standard output: write EPIPE'),
  });
});
