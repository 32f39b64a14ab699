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
  expect(failures).toBeGreaterThan(10);
}, 120_000);

test('the search finds a planted secret in each of its forms', () => {
  const bootstrap = 'an-operators/own+choice=2026';
  const encryptionKey = Buffer.alloc(32, 'key').toString('base64');
  const base64 = Buffer.from(bootstrap).toString('base64');
  const texts = [
    bootstrap,
    encodeURIComponent(bootstrap),
    JSON.stringify(bootstrap),
    base64,
    bootstrap.slice(2, -3),
    encryptionKey,
  ];
  for (const plant of [...texts.map((text) => Buffer.from(text)), Buffer.from(encryptionKey, 'base64')]) {
    const content = Buffer.concat([Buffer.from('"before'), plant, Buffer.from('after')]);
    expect(findSecrets({ bootstrap, encryptionKey }, [{ name: 'a place', content }])).toHaveLength(1);
  }
});
