import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { checkConformance, conformanceCases } from '../support/conformance.ts';
import { createTestDatabase } from '../support/database.ts';
import { checkUnavailable, checkViewer, dataStatus, startEmbedBackend } from '../support/embed-backend.ts';
import { partsOf } from '../support/embed-tokens.ts';
import { lacks, runInProcess, samplesOf, signedWebhook } from '../support/example.ts';
import { startGateway } from '../support/gateway.ts';
import { createMovedClock } from '../support/moved-clock.ts';
import { endProcesses, launch, until } from '../support/process.ts';

afterAll(endProcesses);

const cases = conformanceCases(['introspect', 'untypedToken']);
const settings = { PYTHONPATH: 'examples/python', PYTHONDONTWRITEBYTECODE: '1' };
const launchBackend = (given: Record<string, string>) =>
  launch('python3', ['examples/python/embed_backend.py'], { ...settings, ...given });

/** How long an embed token of the example lives. */
const tokenSeconds = 900;

test('the page of the Go example has the same script, so that its renewals are tested here', () => {
  const [python, go] = ['python/embed_backend.py', 'go/main.go'].map(
    (file) => /<script type="module">.*?<\/script>/s.exec(readFileSync(`examples/${file}`, 'utf8'))?.[0],
  );
  expect(python).toContain("'/embed-token'");
  expect(go).toBe(python);
});

describe.skipIf(lacks('python3', ['--version'], 'python3'))('Python', () => {
  test.concurrent.each(cases)('$name', (testCase) =>
    checkConformance(testCase, (runnable) => runInProcess('python3', ['test/examples/conformance.py'], runnable, settings)),
  );

  test('the embed backend shows the group of a token, and nothing to anyone else', async () => {
    const started = await startEmbedBackend(launchBackend);
    const embedToken = await checkViewer(started);
    // It asks the gateway each time, and so sees a revocation.
    expect(await dataStatus(started, embedToken)).toBe(200);
    await started.client.userGroups.suspend({ by: { providedId: 'acme' } });
    expect(await dataStatus(started, embedToken)).toBe(401);
    await checkUnavailable(started);
    expect(await dataStatus(started, embedToken)).toBe(503);
  });

  test.skipIf(inject('browserEndpoint') === '')('its page stays open over lifetimes of embed tokens', async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.close());
    const clock = await createMovedClock(database);
    onTestFinished(() => clock.close());
    const { client, url, userGroup } = await startEmbedBackend(launchBackend, database);
    const { page } = await openPage(url, { expectedProblems: [/status of 401/, /embed-token/] });
    await page.clock.install();
    const tokens = new Set<string>();
    const problems: string[] = [];
    page.on('request', (request) => {
      const token = request.headers()['authorization']?.replace('Bearer ', '');
      if (!token) return;
      tokens.add(token);
      if (Number(partsOf(token).claims.exp) * 1_000 <= clock.now()) problems.push('sent an expired token');
    });
    page.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    const shown = '{"sales_of":"acme"}';
    await page.fill('input', userGroup.token);
    await page.click('button');
    await expect.poll(() => page.textContent('#data')).toBe(shown);

    /** Moves every clock, and waits for the next refresh. @returns what the page then shows. */
    const pass = async (seconds: number) => {
      await page.evaluate('document.querySelector("#data").textContent = ""');
      await clock.advance(seconds);
      await page.clock.fastForward(1_000 * seconds);
      return until(() => page.textContent('#data'), 'the page shows something');
    };
    for (let seconds = 60; seconds < 3 * tokenSeconds; seconds += 60) expect(await pass(60)).toBe(shown);
    // Each is renewed in the last quarter of its life, not at its end.
    expect(tokens.size).toBe(4);
    expect(await pass(3_600)).toBe(shown);
    expect(tokens.size).toBe(5);
    expect(problems).toEqual([]);

    // A token is used to its end while there is no other, and not after it.
    await page.route('**/embed-token', (route) => route.abort());
    expect(await pass(0.8 * tokenSeconds)).toBe(shown);
    expect(await pass(0.3 * tokenSeconds)).toBe('Failed to fetch');
    await page.unroute('**/embed-token');
    expect(await pass(10)).toBe(shown);
    expect(tokens.size).toBe(6);
    expect(problems).toEqual([]);

    await client.userGroups.suspend({ by: { providedId: 'acme' } });
    expect(await pass(10)).toBe('No embed token.');
  });

  test('the sample of the README works', async () => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const { secret: API_TOKEN } = await gateway.issue({ scopes: ['groups:write', 'groups:read', 'embed:sign'] });
    const [sample = ''] = samplesOf('examples/python/README.md', 'python', gateway);
    const script = `import json, sys
secret, headers, body = json.loads(sys.argv[1]).values()
${sample}
print(json.dumps([created, group.properties, viewer.name, viewer.token, old_token_works_until, claims, event,
                  gateway.update({"provided_id": "acme"}, properties=None).properties]))`;
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
      null,
    ]);
  });
});
