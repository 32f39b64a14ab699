import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { checkUnavailable, checkViewer, dataStatus, startEmbedBackend } from '../support/embed-backend.ts';
import { lacks, runInProcess } from '../support/example.ts';
import { endProcesses, launch } from '../support/process.ts';

const module = fileURLToPath(new URL('../../examples/go', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-go-'));
const runner = join(folder, 'conformance');

/** Compiles a program of the example. */
async function build(program: string, args: string[]): Promise<void> {
  const { code, stderr } = await launch('go', ['build', '-o', program, ...args], {}, { cwd: module }).ended;
  expect([code, stderr]).toEqual([0, '']);
}

const cases = conformanceCases(['verifyEmbedToken']);

describe.skipIf(lacks('go', ['version'], 'golang-go'))('Go', () => {
  beforeAll(async () => {
    // As if the runner were a folder of the example, which users copy without it.
    const overlay = join(folder, 'overlay.json');
    const source = fileURLToPath(new URL('conformance.go', import.meta.url));
    writeFileSync(overlay, JSON.stringify({ Replace: { [join(module, 'conformance/main.go')]: source } }));
    await build(runner, ['-overlay', overlay, './conformance']);
  });
  afterAll(async () => {
    await endProcesses();
    rmSync(folder, { recursive: true, force: true });
  });

  test.concurrent.each(cases)('$name', (testCase) =>
    checkConformance(testCase, (runnable) => runInProcess(runner, [], runnable)),
  );

  test('the embed backend shows the group of a token, and nothing to anyone else', async () => {
    const backend = join(folder, 'backend');
    await build(backend, ['.']);
    const started = await startEmbedBackend((given) => launch(backend, [], given));
    const embedToken = await checkViewer(started);
    await started.client.userGroups.suspend({ by: { providedId: 'acme' } });
    await checkUnavailable(started);
    // It verifies with the public keys, and needs no gateway for that.
    expect(await dataStatus(started, embedToken)).toBe(200);
  });
});
