import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { listen, listenProblem } from '../../src/commands/open-listener.ts';
import { createTestDatabase } from '../support/database.ts';
import { launch } from '../support/process.ts';

test.each([
  ['EADDRINUSE', /the address is in use.*PORT/],
  ['EACCES', /below 1024.*PORT.*CAP_NET_BIND_SERVICE/],
  ['EADDRNOTAVAIL', /HOST is not an address of this machine.*127\.0\.0\.1/],
  ['ENOTFOUND', /HOST is not an address of this machine/],
  ['EMFILE', /^too many open files\. Set HOST and PORT/],
])('%s is explained', (code, text) => {
  expect(listenProblem(Object.assign(new Error('too many open files'), { code }))).toMatch(text);
});

test('explains an address of another machine and a port in use', async () => {
  const server = createServer();
  await expect(listen(server, { host: '203.0.113.1', port: 0 })).rejects.toThrow(/203\.0\.113\.1:0: HOST is not an address/);
  const { url } = await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = new URL(url);
  await expect(listen(createServer(), { host: '127.0.0.1', port: Number(port) })).rejects.toThrow(/the address is in use/);
  server.close();
});

test('explains a port below 1024 that this user cannot use, without a stack trace', async (context) => {
  // Root loses the right to such ports, and nothing else.
  const program =
    process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-net_bind_service', process.execPath] : [process.execPath];
  const start = (args: string[], settings = {}) => launch(program[0] ?? '', [...program.slice(1), ...args], settings).ended;
  const attempt = await start([
    '-e',
    "require('http').createServer().listen(1, '127.0.0.1', () => process.exit(9)).on('error', () => {})",
  ]);
  if (attempt.code !== 0)
    context.skip('This system lets every user listen on every port, or has no setpriv, so no port can be rejected.');

  const database = await createTestDatabase();
  const failed = await start(['dist/main.js', 'serve'], { DATABASE_URL: database.url, PORT: '1' });
  await database.close();
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toMatch(/^Cannot listen on 127\.0\.0\.1:1: permission denied; ports below 1024 are usually reserved/);
  expect(failed.stderr).not.toMatch(/\n\s+at /);
});
