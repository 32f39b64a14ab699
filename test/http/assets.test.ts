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

  test('links to the stylesheet and the icon, which are cacheable because a change renames them', async () => {
    const { text } = await open(path);
    const files = [...text.matchAll(/<link rel="(icon|stylesheet)" href="(assets\/\w+-[\da-f]{12}\.(?:css|svg))"/g)];
    expect(files.map(([, rel]) => rel)).toEqual(['icon', 'stylesheet']);
    for (const [, rel, file] of files) {
      const { status, headers } = await open(`/${file}`);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-type')).toMatch(rel === 'icon' ? /^image\/svg\+xml/ : /^text\/css/);
    }
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

test('/favicon.ico is the icon', async () => {
  const { status, headers, text } = await open('/favicon.ico');
  expect([status, headers.get('content-type'), text.startsWith('<svg')]).toEqual([200, 'image/svg+xml; charset=utf-8', true]);
});
