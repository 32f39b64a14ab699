import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { importWithClient } from '../support/client-snippets.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { snippetsOf } from '../support/snippets.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  vi.stubEnv('GATEWAY', gateway.url);
  vi.stubEnv('API_TOKEN', gateway.token);
});
afterAll(() => {
  vi.unstubAllEnvs();
  return gateway.close();
});

test('the example of the client works as it is written', async () => {
  const [{ text } = { text: '' }] = snippetsOf('client/README.md').filter(({ language }) => language === 'js');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { created, userGroup, rotated, viewer, caller } = await importWithClient<Record<string, unknown>>(text);
  expect(log.mock.calls).toEqual([['ACME']]);
  log.mockRestore();
  const group = { providedId: 'acme', name: 'ACME' };
  expect({ created, userGroup, rotated, viewer, caller }).toMatchObject({
    created: true,
    userGroup: group,
    rotated: { userGroup: { ...group, properties: { plan: 'gold' } } },
    viewer: group,
    caller: { name: 'test' },
  });
});
