import { afterAll, beforeAll, expect, test } from 'vitest';
import { pages } from '../support/access-matrix.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const html = { accept: 'text/html' };
const paths = [
  ...Object.values(pages),
  '/graphql',
  '/api/user',
  '/metrics',
  '/oauth2/introspect',
  '/nowhere',
  '/assets/nothing.js',
];

/** Software that answers should not say what it is. */
const telling = ['server', 'x-powered-by', 'via'];
const send = (path: string, method = 'GET', headers = {}) => gateway.send(method, path, { headers, token: null });

test.each(paths)('%s: what browsers must not guess or keep', async (path) => {
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE']) {
    for (const headers of [html, {}]) {
      const reply = await send(path, method, headers);
      const of = `${method} ${headers === html ? 'HTML' : ''}`;
      expect(reply.headers.get('x-content-type-options'), of).toBe('nosniff');
      const cacheable = /^(no-store|public, max-age=\d+(, immutable)?)$/;
      expect(reply.headers.get('cache-control'), of).toMatch(reply.status >= 400 ? /^no-store$/ : cacheable);
      if (reply.text !== '') expect(reply.headers.get('content-type'), of).toMatch(/^[a-z]+\/[a-z.+-]+(; charset=utf-8)?$/);
      expect(
        telling.filter((name) => reply.headers.has(name)),
        of,
      ).toEqual([]);
      if (!reply.headers.get('content-type')?.startsWith('text/html')) continue;
      const policy = reply.headers.get('content-security-policy');
      expect(policy, of).toMatch(/^default-src 'none'; .*form-action 'none'; frame-ancestors 'none'$/);
      expect(policy, of).not.toContain('unsafe');
      expect(reply.headers.get('referrer-policy'), of).toBe('no-referrer');
      expect(reply.headers.get('cross-origin-opener-policy'), of).toBe('same-origin');
      expect(reply.headers.get('cross-origin-resource-policy'), of).toBe('same-origin');
    }
  }
});

const external = /\{\{|<style| style=| on\w+=|<script(?![^>]* src=)|(?:href|src)="(?:[a-z]+:|\/\/)/i;

test.each(['/', '/docs/api', '/docs/errors/CONFLICT', '/docs/docs-config/hex-color', '/nowhere'])(
  'the page %s has no script, nothing inline and nothing external, and the navigation',
  async (path) => {
    const { headers, text } = await send(path, 'GET', html);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(external);
    expect(text).not.toContain('<script');
    expect(text).toContain('<link rel="icon" href="favicon.ico"');
    for (const name of ['Console', 'Playground', 'API reference', 'Error codes', 'Diagnostics'])
      expect(text).toContain(`>${name}</a>`);
    const [, file] = /<link rel="stylesheet" crossorigin href="\.\/(assets\/style-[\w-]+\.css)"/.exec(text) ?? [];
    expect((await send(`/${file}`)).status).toBe(200);
  },
);

test.each(['/graphql', '/console', '/console/groups'])('the page %s has styles with the nonce of the response', async (path) => {
  const [first, second] = [await send(path, 'GET', html), await send(path, 'GET', html)];
  const [, nonce = ''] = /<meta name="csp-nonce" content="([^"]+)"/.exec(first.text) ?? [];
  expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
  expect(first.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'self' 'nonce-${nonce}'; img-src 'self'; script-src 'self'; connect-src 'self'; ` +
      "font-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(second.headers.get('content-security-policy')).not.toContain(nonce);
  expect(first.text).not.toMatch(external);
});

test('/favicon.ico is the icon', async () => {
  const { status, headers, text } = await send('/favicon.ico');
  expect([status, headers.get('content-type'), text.startsWith('<svg')]).toEqual([200, 'image/svg+xml; charset=utf-8', true]);
});
