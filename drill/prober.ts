// A separate process, so that latencies are the gateway's and not those of the process that sends the hostile requests.
import { connect, type Socket } from 'node:net';
import type { Probes } from './probe.ts';

const [portText, token, groupToken] = process.argv.slice(2);
const port = Number(portText);

/** The intervals of `GET /livez`, on a new and on an existing connection each, and of another caller's look-up. */
const livezEveryMs = 50;
const requestEveryMs = 100;

const livez = Buffer.from('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
const livezOnce = Buffer.from('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
const body = JSON.stringify({
  query: 'query ($token: String!) { userGroup(by: {token: $token}) { teamId } }',
  variables: { token: groupToken },
});
const lookUp = Buffer.from(
  `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Token ${token}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
);

/** When the pending probes were sent. */
const pending = new Set<number>();
const pendingRequests = new Set<number>();
let kept: Socket | undefined;
let keptBusySince: number | undefined;
let probes: { -readonly [Key in keyof Probes]: Probes[Key] } = empty();

function empty() {
  return {
    livezCount: 0,
    worstLivezMs: 0,
    livezFailures: 0,
    requests: 0,
    failedRequests: 0,
    worstRequestMs: 0,
    failure: '',
    ownLagMs: 0,
  };
}

function answered(began: number): void {
  pending.delete(began);
  probes.livezCount += 1;
  probes.worstLivezMs = Math.max(probes.worstLivezMs, performance.now() - began);
}

/** Sends bytes on a new connection and calls back with the complete response as text, empty if there was none. */
function ask(bytes: Buffer, done: (text: string) => void): void {
  let text = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.once('close', () => done(text));
}

function probeFresh(): void {
  const began = performance.now();
  pending.add(began);
  ask(livezOnce, (text) => {
    answered(began);
    if (!text.startsWith('HTTP/1.1 200')) probes.livezFailures += 1;
  });
}

function probeKept(): void {
  if (keptBusySince !== undefined) return; // its age counts while it is pending
  if (!kept || kept.destroyed) {
    const socket = connect(port, '127.0.0.1');
    kept = socket;
    socket.on('data', (chunk) => {
      if (keptBusySince === undefined) return;
      const began = keptBusySince;
      keptBusySince = undefined;
      answered(began);
      if (!chunk.toString('latin1').startsWith('HTTP/1.1 200')) probes.livezFailures += 1;
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      if (keptBusySince === undefined) return; // an idle connection may be closed
      answered(keptBusySince);
      keptBusySince = undefined;
      probes.livezFailures += 1;
    });
  }
  keptBusySince = performance.now();
  pending.add(keptBusySince);
  kept.write(livez);
}

function probeRequest(): void {
  const began = performance.now();
  pendingRequests.add(began);
  ask(lookUp, (text) => {
    pendingRequests.delete(began);
    probes.requests += 1;
    probes.worstRequestMs = Math.max(probes.worstRequestMs, performance.now() - began);
    if (text.startsWith('HTTP/1.1 200') && text.includes('"teamId"')) return;
    probes.failedRequests += 1;
    probes.failure = text.split('\r\n\r\n')[1]?.slice(0, 200) || text.slice(0, 200) || 'no response';
  });
}

let due = performance.now() + livezEveryMs;
setInterval(() => {
  const now = performance.now();
  probes.ownLagMs = Math.max(probes.ownLagMs, now - due);
  due = now + livezEveryMs;
  probeFresh();
  probeKept();
}, livezEveryMs);
setInterval(probeRequest, requestEveryMs);

process.on('disconnect', () => process.exit());
process.on('message', (message: 'reset' | 'read') => {
  if (message === 'reset') {
    probes = empty();
    due = performance.now() + livezEveryMs;
    return;
  }
  for (const began of pending) probes.worstLivezMs = Math.max(probes.worstLivezMs, performance.now() - began);
  for (const began of pendingRequests) probes.worstRequestMs = Math.max(probes.worstRequestMs, performance.now() - began);
  process.send?.(probes);
});
process.send?.('ready');
