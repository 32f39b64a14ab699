import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (path: string) => gateway.send('GET', path, { token: null, headers: { accept: 'text/html' } });

describe.each([
  '/',
  '/docs/api',
  '/docs/errors',
  '/docs/errors/CONFLICT',
  '/docs/docs-config',
  '/docs/docs-config/hex-color',
  '/nowhere',
])('the page %s', (path) => {
  test('permits only files of the gateway', async () => {
    expect((await open(path)).headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test('has no inline style, no script and no external link', async () => {
    expect((await open(path)).text).not.toMatch(/<style|<script| style=| on\w+=|(?:href|src)="(?:[a-z]+:|\/\/)/i);
  });

  test('links to the stylesheet, which is cacheable because a change renames it', async () => {
    const [, file] =
      /<link rel="stylesheet" crossorigin href="\.\/(assets\/style-[\w-]+\.css)"/.exec((await open(path)).text) ?? [];
    const { status, headers } = await open(`/${file}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  test('has the navigation, and no placeholder left', async () => {
    const { text } = await open(path);
    for (const name of ['Console', 'Playground', 'API reference', 'Error codes', 'Diagnostics'])
      expect(text).toContain(`>${name}</a>`);
    expect(text).not.toContain('{{');
  });
});

describe.each(['/graphql', '/console', '/console/groups'])('the page %s, which has a script', (path) => {
  test('permits only files of the gateway, requests to it, and styles with the nonce of the response', async () => {
    const [first, second] = [await open(path), await open(path)];
    const [, nonce = ''] = /<meta name="csp-nonce" content="([^"]+)"/.exec(first.text) ?? [];
    expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
    expect(first.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; script-src 'self'; connect-src 'self'; ` +
        "font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(second.headers.get('content-security-policy')).not.toContain(nonce);
    expect(first.headers.get('cache-control')).toBe('no-store');
  });

  test('has no placeholder left, nothing inline, and no external link', async () => {
    const { text } = await open(path);
    expect(text).not.toMatch(/\{\{|<style| style=| on\w+=|<script(?![^>]* src=)|(?:href|src)="(?:[a-z]+:|\/\/)/i);
  });
});

test('pages themselves are not cacheable', async () => {
  expect((await open('/')).headers.get('cache-control')).toBe('no-store');
});

test('/favicon.ico is the icon, to which every page links', async () => {
  for (const path of ['/', '/graphql', '/console'])
    expect((await open(path)).text).toContain('<link rel="icon" href="favicon.ico"');
  const { status, headers, text } = await open('/favicon.ico');
  expect([status, headers.get('content-type'), text.startsWith('<svg')]).toEqual([200, 'image/svg+xml; charset=utf-8', true]);
});
