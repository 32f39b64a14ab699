import { expect, onTestFinished, test } from 'vitest';
import { copyDataDir } from '../support/data-dir.ts';
import { endProcesses } from '../support/process.ts';
import { findSecrets } from '../support/secret-search.ts';
import { searchForSecrets } from '../support/secrets.ts';

test('no secret is in logs, spans, metrics, errors, outputs, database files or arguments of processes, whatever fails', async () => {
  const dataDir = copyDataDir();
  onTestFinished(async () => {
    await endProcesses();
    await dataDir.remove();
  });
  const { found, missing, failures } = await searchForSecrets(dataDir);
  expect({ found, missing }).toEqual({ found: [], missing: [] });
  expect(failures).toBeGreaterThan(20);
}, 120_000);

test.each(['', 'prefix ', '"', '%'])('the search finds a planted secret in each of its forms, after %j', (prefix) => {
  const bootstrap = 'an-operators/own+choice=2026';
  const encryptionKey = Buffer.alloc(32, 'key').toString('base64');
  const plants: (string | Buffer)[] = [
    bootstrap,
    encodeURIComponent(bootstrap),
    JSON.stringify(bootstrap),
    Buffer.from(bootstrap).toString('base64'),
    bootstrap.slice(2, -3),
    encryptionKey,
    Buffer.from(encryptionKey, 'base64'),
  ];
  for (const plant of plants) {
    const content = Buffer.concat([Buffer.alloc(1_000, 7), Buffer.from(prefix), Buffer.from(plant as string), Buffer.alloc(10)]);
    expect(findSecrets({ bootstrap, encryptionKey }, [{ name: 'a place', content }])).toHaveLength(1);
  }
});
