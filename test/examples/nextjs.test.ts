import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { verifyRemotely } from '../support/embed-tokens.ts';
import { type InstalledExample, installExample, installTimeoutMs } from '../support/examples.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endProcesses } from '../support/process.ts';

const next = 'node_modules/next/dist/bin/next';

let gateway: TestGateway;
let example: InstalledExample;
let url: string;
beforeAll(async () => {
  gateway = await startGateway();
  const { secret } = await gateway.issue({ scopes: ['groups:write', 'embed:sign'] });
  example = await installExample('nextjs');
  // Checks the types, too.
  const build = await example.run([next, 'build'], { NEXT_TELEMETRY_DISABLED: '1' });
  expect(build, build.stdout + build.stderr).toMatchObject({ code: 0 });
  const settings = { GATEWAY: gateway.url, API_TOKEN: secret, NEXT_TELEMETRY_DISABLED: '1' };
  ({ url } = await example.serve([next, 'start', '--hostname', '127.0.0.1'], settings));
}, installTimeoutMs);
afterAll(async () => {
  await endProcesses();
  example?.remove();
  await gateway?.close();
});

test.skipIf(inject('browserEndpoint') === '')('the page shows the group of the customer who is signed in', async () => {
  const { page, assertFlawless, assertFitsPhone } = await openPage(url);
  await expect.poll(() => page.textContent('p')).toBe('Sign in to see your user group.');
  await page.selectOption('#customer', 'initech');
  await page.click('button');
  await expect.poll(() => page.textContent('dl')).toMatch(/initech \(team 1\).*"plan":"free".*valid until/s);
  await assertFlawless();
  await page.selectOption('#customer', 'globex');
  await page.click('button');
  await expect.poll(() => page.textContent('main')).toMatch(/Globex.*globex \(team 2\).*valid until/s);
  await assertFitsPhone();
});

test('the route handler creates an embed token for the customer who is signed in, and for nobody else', async () => {
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'globex' } });
  const ask = (cookie: string) => fetch(`${url}/embed-token`, { headers: { cookie } });
  const response = await ask('customer=globex');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { token } = (await response.json()) as { token: string };
  const { payload } = await verifyRemotely(gateway.url, token, { issuer: `${gateway.url}/testing`, audience: 'dashboards' });
  expect(payload).toMatchObject({ sub: 'globex', viewer: { id: 'u-17', name: 'Ada' } });
  for (const cookie of ['', 'customer=nobody']) expect((await ask(cookie)).status).toBe(401);
});
