import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { checkUnavailable, checkViewer, dataStatus, startEmbedBackend } from '../support/embed-backend.ts';
import { lacks, runInProcess, samplesOf, signedWebhook } from '../support/example.ts';
import { startGateway } from '../support/gateway.ts';
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

  test('the sample of the README works', async () => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const { secret: API_TOKEN } = await gateway.issue({ scopes: ['groups:write', 'groups:read', 'embed:sign'] });
    const [sample = ''] = samplesOf('examples/python/README.md', 'python', gateway);
    const script = `import json, sys
secret, headers, body = json.loads(sys.argv[1]).values()
${sample}
print(json.dumps([created, group.properties, viewer.name, viewer.token, old_token_works_until, claims, event]))`;
    const args = ['-c', script, JSON.stringify(signedWebhook())];
    const { stdout, stderr } = await launch('python3', args, { ...settings, API_TOKEN }).ended;
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject([
      true,
      { plan: 'gold' },
      'ACME',
      null,
      expect.stringMatching(/^\d{4}-/),
      { active: true, sub: 'acme', viewer: { id: 'u-17' } },
      { type: 'user_group.updated', data: { team_id: 7 } },
    ]);
  });
});
