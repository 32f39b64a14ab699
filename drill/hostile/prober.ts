// A separate process, so that latencies are the gateway's and not those of the process that sends the hostile requests.
import { Agent } from 'node:http';
import { type Reply, send, sendGraphQL } from '../client.ts';
import type { Probes } from './probe.ts';

const [portText, token = '', groupToken] = process.argv.slice(2);
const port = Number(portText);

/** The intervals of `GET /livez`, on a new and on an existing connection each, and of another caller's look-up. */
const livezEveryMs = 50;
const requestEveryMs = 100;

const lookUp = 'query ($token: String!) { userGroup(by: {token: $token}) { teamId } }';
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** When the pending probes were sent. */
const pending = { livez: new Set<number>(), requests: new Set<number>() };
let isKeptBusy = false;
let probes = empty();

function empty(): { -readonly [Key in keyof Probes]: Probes[Key] } {
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

async function probe(kind: keyof typeof pending, request: Promise<Reply>): Promise<void> {
  const began = performance.now();
  pending[kind].add(began);
  const reply = await request;
  note(kind, began);
  pending[kind].delete(began);
  if (kind === 'livez') {
    probes.livezCount += 1;
    if (reply.status !== 200) probes.livezFailures += 1;
    return;
  }
  probes.requests += 1;
  if (reply.json?.data?.userGroup?.teamId !== undefined) return;
  probes.failedRequests += 1;
  probes.failure = reply.text.slice(0, 200);
}

function note(kind: keyof typeof pending, began: number): void {
  const age = performance.now() - began;
  if (kind === 'livez') probes.worstLivezMs = Math.max(probes.worstLivezMs, age);
  else probes.worstRequestMs = Math.max(probes.worstRequestMs, age);
}

let due = performance.now() + livezEveryMs;
setInterval(() => {
  const now = performance.now();
  probes.ownLagMs = Math.max(probes.ownLagMs, now - due);
  due = now + livezEveryMs;
  void probe('livez', send(port, 'GET', '/livez'));
  if (isKeptBusy) return; // its age counts while it is pending
  isKeptBusy = true;
  void probe('livez', send(port, 'GET', '/livez', { agent })).then(() => {
    isKeptBusy = false;
  });
}, livezEveryMs);
setInterval(() => void probe('requests', sendGraphQL(port, lookUp, { token: groupToken }, { token })), requestEveryMs);

process.on('disconnect', () => process.exit());
process.on('message', (message: 'reset' | 'read') => {
  if (message === 'reset') {
    probes = empty();
    due = performance.now() + livezEveryMs;
    return;
  }
  for (const kind of ['livez', 'requests'] as const) for (const began of pending[kind]) note(kind, began);
  process.send?.(probes);
});
process.send?.('ready');
