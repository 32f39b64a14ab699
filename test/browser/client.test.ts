import { afterAll, beforeAll, expect, test } from 'vitest';
import { UserGroupGateway } from '../../client/src/index.ts';
import { openPage } from '../support/browser.ts';
import { bundleWithClient } from '../support/client-snippets.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('a page keeps an embed token, and verifies it', async () => {
  const scopes = ['embed:sign' as const, 'groups:write' as const];
  const backend = new UserGroupGateway({ url: gateway.url, apiToken: (await gateway.issue({ scopes })).secret });
  await backend.userGroups.getOrCreate({ providedId: 'acme' });
  // A page without a Content-Security-Policy.
  const { page } = await openPage(`${gateway.url}/livez`);
  let requests = 0;
  await page.route(`${gateway.url}/embed-token`, async (route) => {
    requests += 1;
    await route.fulfill({ json: await backend.embedTokens.create({ by: { providedId: 'acme' }, audience: 'dashboards' }) });
  });
  const module = await bundleWithClient(`
    import { createEmbedTokenProvider, createEmbedTokenVerifier } from 'user-group-gateway-client';
    const options = { url: location.origin, environment: 'Testing', audience: 'dashboards' };
    const passedOn = Promise.withResolvers();
    const onToken = (token) => passedOn.resolve(token);
    const provider = createEmbedTokenProvider((signal) => fetch('/embed-token', { signal }).then((response) => response.json()), { onToken });
    const token = await provider.getToken();
    const { sub } = await createEmbedTokenVerifier(options)(token);
    const code = await createEmbedTokenVerifier({ ...options, audience: 'other' })(token).catch(({ code }) => code);
    export const result = { sub, code, isSame: (await passedOn.promise) === token };
    provider.stop();
  `);
  const result = await page.evaluate(`import(${JSON.stringify(module)}).then(({ result }) => result)`);
  expect(result).toEqual({ sub: 'acme', code: 'INVALID_EMBED_TOKEN', isSame: true });
  expect(requests).toBe(1);
});
