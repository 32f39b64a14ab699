import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { importWithClient } from '../support/client-snippets.ts';
import { createToken, introspectToken } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readPersisted } from '../support/persisted.ts';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy.ts';
import { sendUnchecked } from '../support/send-unchecked.ts';
import { snippetsOf } from '../support/snippets.ts';

/** The modules of the page, in order. */
const [viewer, verification, rotation] = snippetsOf('docs/embedding.md')
  .filter(({ language, info }) => language === 'js' && info === '')
  // A module without a folder finds no packages by name.
  .map(({ text }) => text.replace("'jose'", `'${import.meta.resolve('jose')}'`))
  .map((text) => `data:text/javascript,${encodeURIComponent(text)}`);

let gateway: TestGateway;
let proxy: PrefixProxy;
let findViewer: (token?: unknown) => Promise<object | null>;
let embedToken: string;
let verifyViewer: (token?: unknown) => Promise<object>;
let rotate: (token?: unknown) => Promise<{ userGroup: { token: string }; previousTokenExpiresAt: string }>;
beforeAll(async () => {
  // Behind a reverse proxy, below a path: what the samples send must lead there.
  proxy = await startPrefixProxy('/internal/groups', () => gateway.url);
  gateway = await startGateway(undefined, { introspection: true, publicUrl: proxy.url });
  vi.stubEnv('GATEWAY', proxy.url);
  ({ verifyViewer } = await import(/* @vite-ignore */ verification ?? ''));
  ({ findViewer } = await import(/* @vite-ignore */ viewer ?? ''));
  ({ rotate } = await import(/* @vite-ignore */ rotation ?? ''));
  embedToken = (await gateway.issue({ scopes: ['groups:resolve'] })).secret;
});
beforeEach(() => {
  vi.stubEnv('GATEWAY', proxy.url);
  vi.stubEnv('WRITE_API_TOKEN', gateway.token);
  vi.stubEnv('API_TOKEN', embedToken);
});
afterAll(() => {
  vi.unstubAllEnvs();
  proxy.close();
  return gateway.close();
});

const createGroup = async (id: string): Promise<string> =>
  (await gateway.send('GET', '/api/user', { body: { user_group_id: id, properties: { region: 'eu' } } })).json.user_group.token;

test('finds the viewer by the current token and by the one before, with a token that can do nothing else', async () => {
  const first = await createGroup('acme');
  const group = { teamId: expect.any(Number), name: 'acme', properties: { region: 'eu' } };
  expect(await findViewer(first)).toEqual(group);
  const { userGroup, previousTokenExpiresAt } = await rotate(first);
  expect(Math.round((Date.parse(previousTokenExpiresAt) - Date.now()) / 60_000)).toBe(60);
  expect(await findViewer(userGroup.token)).toEqual(group);
  expect(await findViewer(first)).toEqual(group);
  await expect(rotate(first)).rejects.toThrow('NOT_FOUND');
});

test('verifies an embed token without a request for it, and rejects those that are not for it', async () => {
  await createGroup('verified');
  const { secret } = await gateway.issue({ scopes: ['embed:sign'] });
  const sign = async (input: object) =>
    (await createToken(gateway, secret, { by: { providedId: 'verified' }, audience: 'dashboards', ...input })).token;
  const { teamId } = await gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: 'verified' } });
  const token = await sign({});
  expect(await verifyViewer(token)).toEqual({ providedId: 'verified', teamId });
  await expect(verifyViewer(await sign({ audience: 'another' }))).rejects.toThrow('"aud"');
  await expect(verifyViewer(`${token.slice(0, -8)}AAAAAAAA`)).rejects.toThrow('signature');

  await gateway.database.prisma.userGroup.update({ where: { teamId }, data: { environmentTag: 'Customer' } });
  const { secret: customer } = await gateway.issue({ environment: 'Customer', scopes: ['embed:sign'] });
  const ofCustomer = await createToken(gateway, customer, { by: { teamId }, audience: 'dashboards' });
  await expect(verifyViewer(ofCustomer.token)).rejects.toThrow('"iss"');
  // What the page says of it: the first token lives until it expires, but not for introspection.
  expect(await verifyViewer(token)).toMatchObject({ teamId });
  expect((await introspectToken(gateway, embedToken, token)).json).toEqual({ active: false });
});

/** What a browser may send instead of a token. */
const notTokens: readonly [string, unknown][] = [
  ['the token of no group', 'this-token-is-of-no-group'],
  ['an empty token', ''],
  ['no token', undefined],
  ['null', null],
  ['a number', 5],
  ['a list', ['a', 'b']],
  ['a long token', 'x'.repeat(256)],
  ['a token of 2 MB', 'x'.repeat(2_000_000)],
  ['a token with NUL', 'token\0'],
  ['a token with half of a character', 'token\ud800'],
];

test.each(notTokens)('%s is of no viewer, and is not verified and not rotated', async (_, token) => {
  expect(await findViewer(token)).toBeNull();
  await expect(verifyViewer(token)).rejects.toThrow();
  await expect(rotate(token)).rejects.toThrow();
});

test('throws when the document has an error', async () => {
  const token = await createGroup('asked');
  const { findViewer: findMisspelled } = await import(/* @vite-ignore */ viewer?.replace('name', 'nmae') ?? '');
  for (const sent of [token, '']) await expect(findMisspelled(sent)).rejects.toThrow('INVALID_INPUT');
});

test('throws when the document is not a persisted operation', async () => {
  const token = await createGroup('asked');
  const persistedOperations = await readPersisted({ 'operations.json': '{"type":"{ __typename }"}' });
  const persisted = await startGateway(gateway.database, { introspection: true, persistedOperations });
  onTestFinished(() => persisted.close());
  vi.stubEnv('GATEWAY', persisted.url);
  for (const sent of [token, '']) await expect(findViewer(sent)).rejects.toThrow('INVALID_INPUT');
});

test('the embed backend of the client is short: it responds with the dashboard of the viewer', async () => {
  const [{ text } = { text: '' }] = snippetsOf('docs/embedding.md').filter(({ info }) => info === 'file=embed-backend.js');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
  const { embedBackend } = await importWithClient<{ embedBackend: Server }>(text);
  onTestFinished(() => void embedBackend.close());
  embedBackend.listen(0, '127.0.0.1');
  await once(embedBackend, 'listening');
  const url = `http://127.0.0.1:${(embedBackend.address() as AddressInfo).port}`;
  const ask = (token?: string) =>
    sendUnchecked(url, 'GET', '/', { headers: token === undefined ? {} : { authorization: `Bearer ${token}` }, agent: false });
  const token = await createGroup('backend');
  expect((await ask(token)).json).toEqual({ dashboard: 'sales', variables: { region: 'eu' } });
  for (const other of [undefined, 'this-token-is-of-no-group', 'x'.repeat(2_000)]) expect((await ask(other)).status).toBe(401);
  await gateway.database.prisma.apiToken.updateMany({
    where: { scopes: { has: 'groups:resolve' } },
    data: { revokedAt: new Date() },
  });
  expect((await ask(token)).status).toBe(503);
});

test('throws when it is not known who is viewing', async () => {
  const { secret } = await gateway.issue({ scopes: ['metrics:read'] });
  vi.stubEnv('API_TOKEN', secret);
  await expect(findViewer('this-token-is-of-no-group')).rejects.toThrow('FORBIDDEN');
});
