import { afterAll, describe, expect, test } from 'vitest';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { checkUnavailable, checkViewer, dataStatus, startEmbedBackend } from '../support/embed-backend.ts';
import { lacks, runInProcess } from '../support/example.ts';
import { endProcesses, launch } from '../support/process.ts';

afterAll(endProcesses);

const cases = conformanceCases(['introspect', 'untypedToken']);
const settings = { PYTHONPATH: 'examples/python', PYTHONDONTWRITEBYTECODE: '1' };

describe.skipIf(lacks('python3', ['--version'], 'python3'))('Python', () => {
  test.concurrent.each(cases)('$name', (testCase) =>
    checkConformance(testCase, (runnable) => runInProcess('python3', ['test/examples/conformance.py'], runnable, settings)),
  );

  test('the embed backend shows the group of a token, and nothing to anyone else', async () => {
    const started = await startEmbedBackend((given) =>
      launch('python3', ['examples/python/embed_backend.py'], { ...settings, ...given }),
    );
    const embedToken = await checkViewer(started);
    // It asks the gateway each time, and so sees a revocation.
    expect(await dataStatus(started, embedToken)).toBe(200);
    await started.client.userGroups.suspend({ by: { providedId: 'acme' } });
    expect(await dataStatus(started, embedToken)).toBe(401);
    await checkUnavailable(started);
    expect(await dataStatus(started, embedToken)).toBe(503);
  });
});
