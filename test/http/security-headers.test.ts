import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../support/access-matrix.ts';
import { sendText } from '../support/connect.ts';
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
const telling = ['server', 'x-powered-by', 'via', 'x-aspnet-version', 'x-runtime'];

describe.each(paths)('%s', (path) => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])(
    '%s: what browsers must not guess or keep',
    async (method) => {
      for (const headers of [html, {}]) {
        const reply = await gateway.send(method, path, { headers, token: null });
        expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
        expect(reply.headers.get('cache-control')).toMatch(/^(no-store|public, max-age=\d+(, immutable)?)$/);
        if (reply.text !== '') expect(reply.headers.get('content-type')).toMatch(/^[a-z]+\/[a-z.+-]+(; charset=utf-8)?$/);
        expect(telling.filter((name) => reply.headers.has(name))).toEqual([]);
        if (reply.status >= 400) expect(reply.headers.get('cache-control')).toBe('no-store');
        if (!reply.headers.get('content-type')?.startsWith('text/html')) continue;
        expect(reply.headers.get('content-security-policy')).toMatch(
          /^default-src 'none'; .*form-action 'none'; frame-ancestors 'none'$/,
        );
        expect(reply.headers.get('content-security-policy')).not.toContain('unsafe');
        expect(reply.headers.get('referrer-policy')).toBe('no-referrer');
        expect(reply.headers.get('cross-origin-opener-policy')).toBe('same-origin');
        expect(reply.headers.get('cross-origin-resource-policy')).toBe('same-origin');
      }
    },
  );
});

test('pages are among them: those with a script, those without, and errors', async () => {
  const types = await Promise.all(
    ['/', '/graphql', '/console', '/docs/errors', '/nowhere', '/api/user'].map(async (path) => {
      const { headers } = await gateway.send('GET', path, { headers: html, token: null });
      return headers.get('content-type');
    }),
  );
  expect(new Set(types)).toEqual(new Set(['text/html; charset=utf-8']));
});

test('what is not HTTP gets the same', async () => {
  const text = await sendText(gateway, 'NONSENSE\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n/s);
  expect(text.toLowerCase()).not.toMatch(/^(server|x-powered-by):/m);
});
