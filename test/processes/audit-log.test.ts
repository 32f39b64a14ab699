import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { generateEncryptionKey } from '../../src/encryption/keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken, testKey } from '../support/keys.ts';
import { endProcesses, run, serve } from '../support/process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});

test('the first start and commands record what they change, with the gateway or the user as the actor', async () => {
  const settings = { DATABASE_URL: database.url };
  await (await serve({ ...settings, BOOTSTRAP_API_TOKEN: 'an-operators/own+choice=2026' })).stop();
  await database.prisma.userGroup.create({ data: { providedId: 'acme', name: 'acme', ...storedToken('an imported token') } });
  const { stdout } = await run(['token', 'create', '--name', 'by hand', '--environment', 'Customer', '--json'], settings);
  const { id } = JSON.parse(stdout);
  await run(['token', 'rotate', String(id)], settings);
  await run(['token', 'revoke', String(id)], settings);
  await run(['token', 'revoke', String(id)], settings); // changes nothing
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'groups.ndjson');
  writeFileSync(file, '{"user_group_id":"a"}\n{"user_group_id":"b"}\n');
  for (const extra of [['--dry-run'], [], []])
    await run(['groups', 'import', file, '--environment', 'Testing', ...extra], settings);
  const keys = { ...settings, ENCRYPTION_KEYS: `${generateEncryptionKey()},${testKey}` };
  const rotation = await run(['keys', 'rotate', 'encryption'], keys);
  // Of three groups, and the signing key.
  expect(rotation).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Encrypted 4 tokens/) });

  // But for the group that the test itself has stored.
  const where = { actorName: { not: 'database' } };
  const events = await database.prisma.event.findMany({ where, orderBy: { id: 'asc' } });
  const gateway = { actorKind: 'SYSTEM', actorName: 'user-group-gateway' };
  const user = { actorKind: 'CLI', actorName: userInfo().username };
  const nothingElse = { actorApiTokenId: null, requestId: null, teamId: null, providedId: null };
  expect(events).toMatchObject(
    [
      { ...gateway, type: 'api_token.created', environment: 'Untagged', changes: { name: { from: null, to: 'bootstrap' } } },
      { ...gateway, type: 'signing_key.rotated', environment: 'None', changes: { signingKey: { from: null } } },
      { ...user, type: 'api_token.created', environment: 'Customer', subjectApiTokenId: id },
      { ...user, type: 'api_token.rotated', environment: 'Customer', subjectApiTokenId: id },
      { ...user, type: 'api_token.revoked', environment: 'Customer', subjectApiTokenId: id },
      { ...user, type: 'user_group.imported', environment: 'None', changes: { created: { from: null, to: 2 } } },
      { ...user, type: 'encryption_key.rotated', environment: 'None', subjectApiTokenId: null },
    ].map((event) => ({ ...event, ...nothingElse })),
  );
  expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
    JSON.parse(stdout).token.slice(4, 30),
  );
});
