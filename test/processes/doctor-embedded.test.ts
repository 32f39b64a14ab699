import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkNames, doctor } from '../../src/commands/doctor/doctor.ts';
import type { TestDataDir } from '../support/data-dir.ts';
import { makeKeyedDataDir, startEmbeddedGateway } from '../support/embedded-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { testKey } from '../support/keys.ts';
import { collect } from '../support/text-stream.ts';

let primary: TestDataDir;
let gateway: TestGateway;
beforeAll(async () => {
  primary = makeKeyedDataDir();
  gateway = await startEmbeddedGateway(primary.path);
});
afterAll(async () => {
  await gateway.close();
  await primary.remove();
});

/** The findings of the command, by name. */
async function diagnose(
  environment: NodeJS.ProcessEnv,
): Promise<Map<string, { status: string; found: string; remedy?: string }>> {
  const output = collect();
  await doctor(['--json'], output.stream, { environment: { PORT: '0', ...environment } });
  const { checks } = JSON.parse(output.text()) as { checks: { name: string; status: string; found: string; remedy?: string }[] };
  return new Map(checks.map((check) => [check.name, check]));
}

test('of the bundled PostgreSQL that a gateway uses, every check is ok, and it keeps running', async () => {
  const found = await diagnose({ DATA_DIR: primary.path });
  expect([...found].map(([name, { status }]) => `${name} ${status}`)).toEqual(checkNames.map((name) => `${name} ok`));
  expect(found.get('data-directory')?.found).toContain(`runs (process ${primary.postmaster()}`);
  expect(found.get('connections')?.found).toMatch(
    /^up to 10 for each of 1 process, 0 of other programs; the server permits 100$/,
  );
  expect((await gateway.send('GET', '/readyz')).status).toBe(200);
});

test.runIf(process.platform === 'linux')(
  'of one whose process is not visible, as in another container, it says where to run',
  async () => {
    const file = join(primary.path, 'postgres', 'postmaster.pid');
    const lock = readFileSync(file, 'utf8');
    // No process has this number.
    writeFileSync(file, lock.replace(/^\d+/, '4194304'));
    try {
      const found = await diagnose({ DATA_DIR: primary.path });
      expect(found.get('data-directory')).toMatchObject({ status: 'ok', found: expect.stringContaining('is not visible') });
      expect(found.get('database')).toMatchObject({ status: 'skipped', found: expect.stringContaining('in the container') });
    } finally {
      writeFileSync(file, lock);
    }
  },
);

test('synchronous_commit that is off is a warning', async () => {
  const url = `${primary.databaseUrl()}?options=-c%20synchronous_commit%3Doff`;
  const found = await diagnose({ DATABASE_URL: url, ENCRYPTION_KEYS: testKey });
  expect(found.get('durability')).toMatchObject({ status: 'warning', found: expect.stringContaining('loses writes') });
});
