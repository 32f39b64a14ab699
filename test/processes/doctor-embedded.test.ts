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
  expect(found.get('connections')?.found).toMatch(
    /^up to 10 for each of at least 1 process, 0 of other programs; the server permits 100$/,
  );
  expect((await gateway.send('GET', '/readyz')).status).toBe(200);
});

test('synchronous_commit that is off is a warning', async () => {
  const url = `${primary.databaseUrl()}&options=-c%20synchronous_commit%3Doff`;
  const found = await diagnose({ DATABASE_URL: url, ENCRYPTION_KEYS: testKey });
  expect(found.get('durability')).toMatchObject({ status: 'warning', found: expect.stringContaining('loses writes') });
});
