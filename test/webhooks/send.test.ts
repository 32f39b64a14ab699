import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { verifyWebhook } from '../../client/src/index.ts';
import type { Resolve } from '../../src/webhooks/destination.ts';
import { type Message, reasonOf, retryAfterSeconds, type SendOptions, send } from '../../src/webhooks/send.ts';
import { launch, until } from '../support/process.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An endpoint that is closed after the test. */
const receiver = async (...parameters: Parameters<typeof startReceiver>) => {
  const started = await startReceiver(...parameters);
  closing.push(started.close);
  return started;
};

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = JSON.stringify({ type: 'user_group.updated', timestamp: '2026-01-31T12:00:00.000Z', data: { provided_id: 'ä€' } });
const message: Omit<Message, 'url'> = { id: 'RXZlbnQ6MS4x', body, secrets: [secret], sentAt: new Date() };

const local: SendOptions = { allowedNetworks: ['127.0.0.0/8'], timeoutMs: 10_000 };

test('a delivery is verified by the reference implementation and by the client', async () => {
  const { url, received } = await receiver();
  expect(await send({ ...message, url: `${url}/hooks?key=1` }, local)).toEqual({ status: 204, body: '' });
  const { method, path, headers, body: text } = received[0] as (typeof received)[0];
  expect({ method, path, text }).toEqual({ method: 'POST', path: '/hooks?key=1', text: body });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': expect.stringMatching(/^user-group-gateway\/\d/),
    'webhook-id': message.id,
    connection: 'keep-alive',
  });
  expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(JSON.parse(body));
  expect(await verifyWebhook(secret, headers, text)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${text} `, headers as Record<string, string>)).toThrow();
});

test.each([200, 404, 410])('a response of %d is the outcome, with the beginning of its body', async (status) => {
  const { url } = await receiver((response) => response.writeHead(status).end('reason\0: ä'));
  expect(await send({ ...message, url }, local)).toEqual({ status, body: 'reason\uFFFD: ä' });
});

test.each([
  ['120', 120],
  ['0', 0],
  ['soon', undefined],
  ['Sat, 31 Jan 2026 12:01:00 GMT', 60],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  [undefined, undefined],
])('of Retry-After %j, %j is understood', (value, seconds) => {
  expect(retryAfterSeconds(value, Date.parse('2026-01-31T12:00:00Z'))).toBe(seconds);
});

test.each([301, 308])('a redirect of %d is not followed', async (status) => {
  const inside = await receiver();
  const targets: Record<string, string> = { '/a': `${inside.url}/`, '/b': 'http://169.254.169.254/latest/meta-data/' };
  const { url } = await receiver((response, { path = '' }) => response.writeHead(status, { location: targets[path] }).end());
  for (const [path, target] of Object.entries(targets)) {
    const outcome = await send({ ...message, url: url + path }, local);
    expect(outcome).toMatchObject({ status, body: '' });
    expect(reasonOf(outcome)).toBe(`redirects to ${target}; redirects are not followed: change the URL`);
  }
  expect(inside.connections()).toBe(0);
});

test('of an endless response, the beginning is read, and the connection closed', async () => {
  let closed = Promise.resolve<unknown>(undefined);
  let written = 0;
  const { url } = await receiver((response) => {
    closed = once(response, 'close');
    response.writeHead(200);
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384))) written += 1;
    };
    response.on('drain', write);
    write();
  });
  expect(await send({ ...message, url }, local)).toEqual({ status: 200, body: 'x'.repeat(1_024) });
  await closed;
  expect(written).toBeLessThan(2_000);
});

/** Sends with a short time limit. @returns the outcome and how long it took. */
async function sendBriefly(url: string, options: SendOptions = local) {
  const startedMs = performance.now();
  const outcome = await send({ ...message, url }, { ...options, timeoutMs: 200 });
  return { outcome, tookMs: performance.now() - startedMs };
}

const late = 'There was no complete response within 0.2 s.';

test('everything together has a time limit: a hanging endpoint, and a body that comes slowly', async () => {
  const hanging = await receiver(() => {});
  const { outcome, tookMs } = await sendBriefly(hanging.url);
  expect(outcome).toEqual({ error: late });
  expect(tookMs).toBeGreaterThan(190);
  let timer: NodeJS.Timeout | undefined;
  closing.push(() => clearInterval(timer));
  const { url } = await receiver((response) => {
    response.writeHead(200);
    timer = setInterval(() => response.write('.'), 10);
  });
  expect((await sendBriefly(url)).outcome.error).toEqual(late);
});

test('everything together has a time limit: a name server that does not respond', async () => {
  let ended: AbortSignal | undefined;
  const resolve: Resolve = (_, __, ___, signal) => {
    ended = signal;
  };
  expect((await sendBriefly('https://example.com/', { ...local, resolve })).outcome).toEqual({ error: late });
  await until(() => ended?.aborted, 'the look-up is ended too');
});

test('what is no response is an error', async () => {
  for (const [text, error] of [
    ['', 'socket hang up'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'closed'],
    ['SSH-2.0-OpenSSH_9.9\r\n', 'Parse Error'],
  ] as const) {
    const server = createTcpServer((socket) => void socket.on('error', () => {}).once('data', () => socket.end(text)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => void server.close());
    const outcome = await send({ ...message, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }, local);
    expect(outcome.error).toContain(error);
  }
  const gone = await startReceiver();
  await gone.close();
  const { error } = await send({ ...message, url: `${gone.url}/secret` }, local);
  expect(error).toMatch(/ECONNREFUSED/);
  expect(error).not.toContain('secret');
});

test('addresses that may not be reached are refused before anything is sent', async () => {
  const { port, connections } = await receiver();
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433', 'localhost']) {
    for (const scheme of ['http', 'https']) {
      const outcome = await send({ ...message, url: `${scheme}://${host}:${port}/` }, { allowedNetworks: [], timeoutMs: 10_000 });
      expect(outcome).toEqual({ error: expect.stringMatching(/^The address .* is not public/) });
    }
  }
  expect(connections()).toBe(0);
});

/** A name server that answers with one address after the other. @returns also how often it was asked. */
function answering(...addresses: readonly string[]): { resolve: Resolve; asked: () => number } {
  let asked = 0;
  const resolve: Resolve = (_, __, callback) => {
    const address = addresses[Math.min(asked, addresses.length - 1)] as string;
    asked += 1;
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  return { resolve, asked: () => asked };
}

test('the address that is connected to is the one that was checked, whatever the name leads to afterwards', async () => {
  const permitted = await receiver((response) => response.writeHead(204, { connection: 'close' }).end(), '127.0.0.2');
  // Not 127.0.0.1, where another test may listen on this port.
  const inside = await receiver(undefined, '127.0.0.3', permitted.port);
  const { resolve, asked } = answering('127.0.0.2', '127.0.0.3');
  const options: SendOptions = { ...local, allowedNetworks: ['127.0.0.2/32'], resolve };
  const url = `http://rebind.example:${permitted.port}/`;
  expect(await send({ ...message, url }, options)).toEqual({ status: 204, body: '' });
  expect(asked()).toBe(1);
  // The next connection asks again, and refuses what it is told.
  expect(await send({ ...message, url }, options)).toEqual({ error: expect.stringContaining('127.0.0.3 is not public') });
  expect(asked()).toBe(2);
  expect([permitted.connections(), inside.connections()]).toEqual([1, 0]);
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!hasOpenssl)('certificates are verified: NODE_EXTRA_CA_CERTS adds an authority', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-tls-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(folder, name)) as [string, string];
  const names = ['-subj', '/CN=hooks.example', '-addext', 'subjectAltName=DNS:hooks.example'];
  const make = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', ...names];
  execFileSync('openssl', [...make, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    request.resume().once('end', () => response.writeHead(202).end(String(request.headers.host)));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const sendTo = async (hosts: readonly string[], environment: Record<string, string>) => {
    const script = `
      const { send } = await import('./src/webhooks/send.ts');
      const resolve = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
      const sendTo = (host) => send(
        { url: 'https://' + host + ':${port}/', id: 'id', body: '{}', secrets: [], sentAt: new Date() },
        { allowedNetworks: ['127.0.0.0/8'], resolve },
      );
      console.log(JSON.stringify(await Promise.all(${JSON.stringify(hosts)}.map(sendTo))));`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    return JSON.parse((await launch(process.execPath, args, environment).ended).stdout);
  };
  const [trusting, others] = await Promise.all([
    sendTo(['hooks.example', 'other.example'], { NODE_EXTRA_CA_CERTS: certificate }),
    sendTo(['hooks.example'], {}),
  ]);
  expect(trusting).toEqual([
    { status: 202, body: `hooks.example:${port}` },
    { error: expect.stringContaining("does not match certificate's") },
  ]);
  expect(others).toEqual([{ error: expect.stringMatching(/^self-signed certificate/) }]);
});
