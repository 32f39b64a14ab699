import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createApiToken } from '../../src/api-tokens/api-tokens.ts';
import { stampApiTokenUses } from '../../src/api-tokens/authenticate.ts';
import { startRecorder } from '../../src/concurrency.ts';
import { logForm, logOutages } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function createToken(name: string): Promise<number> {
  const request = { name, environmentTag: null, scopes: ['groups:read'], expiresAt: null } as const;
  return (await createApiToken(contextOn(database), request)).apiToken.id;
}

const lastUse = async (id: number) => (await database.prisma.apiToken.findUniqueOrThrow({ where: { id } })).lastUsedAt?.getTime();

test('uses that cannot be written are written the next time, the last one of each API token', async () => {
  const lastUsed = startRecorder((secondsAgo) => stampApiTokenUses(database.sql, secondsAgo));
  onTestFinished(() => lastUsed.stop());
  const [once, again] = [await createToken('once'), await createToken('again')];
  await database.pool.query('alter table api_token rename to elsewhere');
  const startedMs = Date.now();
  lastUsed.note(once);
  lastUsed.note(again);
  const notedMs = performance.now();
  const failing = lastUsed.flush();
  while (performance.now() < notedMs + 3) await new Promise((resolve) => setImmediate(resolve));
  lastUsed.note(again);
  await failing;
  await database.pool.query('alter table elsewhere rename to api_token');
  await lastUsed.stop();

  const [first = 0, last = 0] = [await lastUse(once), await lastUse(again)];
  expect(first).toBeGreaterThanOrEqual(startedMs);
  expect(last).toBeGreaterThan(first);
  expect(last).toBeLessThanOrEqual(Date.now());
});

test('an outage is logged once, and its end', async () => {
  const log: string[] = [];
  const logger = pino(logForm, { write: (line: string) => void log.push(JSON.parse(line).msg) });
  const lastUsed = startRecorder(
    (secondsAgo) => stampApiTokenUses(database.sql, secondsAgo),
    logOutages(logger, 'failing', 'recovered'),
  );
  onTestFinished(() => lastUsed.stop());
  const id = await createToken('in an outage');
  const flush = async () => {
    lastUsed.note(id);
    await lastUsed.flush();
  };
  await flush();
  await database.pool.query('alter table api_token rename to elsewhere');
  await flush();
  await flush();
  await database.pool.query('alter table elsewhere rename to api_token');
  expect(log).toEqual(['failing']);
  await flush();
  await flush();
  expect(log).toEqual(['failing', 'recovered']);
});
