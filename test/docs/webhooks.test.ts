import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { type Message, send, signedHeaders } from '../../src/webhooks/send.ts';
import { importWithClient } from '../support/client-snippets.ts';
import { snippetsOf } from '../support/snippets.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

afterAll(() => vi.unstubAllEnvs());

const textOf = (language: string): string =>
  snippetsOf('docs/webhooks.md').find((each) => each.language === language)?.text ?? '';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const [, body = ''] = textOf('http').trim().split('\n\n');
const message: Omit<Message, 'url'> = {
  id: 'RXZlbnQ6MS4x',
  body,
  secrets: [`whsec_${randomBytes(32).toString('base64')}`, secret],
  sentAt: new Date(),
};

/** The module of the page. */
interface Sample {
  receive(request: Request, enqueue: (id: string, event: unknown) => Promise<void>): Promise<Response>;
}

/** A delivery as it arrives, and those that a receiver must refuse. */
async function deliveries() {
  const receiver = await startReceiver();
  await send({ ...message, url: receiver.url }, { allowedNetworks: ['127.0.0.0/8'] });
  await receiver.close();
  const [delivery] = receiver.received;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const sent = Object.fromEntries(names.map((name) => [name, String(delivery?.headers[name])]));
  const old = signedHeaders({ ...message, sentAt: new Date(message.sentAt.getTime() - 301_000) });
  return {
    sent,
    refused: [
      { headers: old, body },
      { headers: sent, body: `${body} ` },
      { headers: { ...sent, 'webhook-id': 'another' }, body },
      ...['soon', '²', '9'.repeat(5_000)].map((timestamp) => ({ headers: { ...sent, 'webhook-timestamp': timestamp }, body })),
      ...names.map((name) => ({ headers: Object.fromEntries(Object.entries(sent).filter(([each]) => each !== name)), body })),
      { headers: { ...sent, 'webhook-signature': 'v1,é' }, body },
      { headers: signedHeaders({ ...message, secrets: message.secrets.slice(0, 1) }), body },
    ],
  };
}

/** Deliveries that are signed with what is no secret: nothing, which everybody could sign with, and no base64. */
const signedWithout = () =>
  ['', 'whsec_', `whsec_#${secret.slice(6)}`].map((wrong) => {
    const headers = signedHeaders({ ...message, secrets: [] });
    const hmac = createHmac('sha256', Buffer.from(wrong.replace('whsec_', ''), 'base64'));
    const signature = hmac.update(`${message.id}.${headers['webhook-timestamp']}.${body}`).digest('base64');
    return { secret: wrong, headers: { ...headers, 'webhook-signature': `v1,${signature}` }, body };
  });

test('the JavaScript of the page accepts a delivery, and nothing else', async () => {
  vi.stubEnv('WEBHOOK_SECRET', secret);
  const { receive } = await importWithClient<Sample>(textOf('js'));
  const enqueued: unknown[] = [];
  const post = async (headers: Record<string, string>, text: string) => {
    const encoded = Object.entries(headers).map(
      ([name, value]) => [name, Buffer.from(value).toString('latin1')] as [string, string],
    );
    const request = new Request('http://localhost/', { method: 'POST', headers: encoded, body: text });
    return (await receive(request, async (...parameters: unknown[]) => void enqueued.push(parameters))).status;
  };
  const { sent, refused } = await deliveries();
  expect(await post(sent, body)).toBe(204);
  expect(enqueued).toEqual([[message.id, JSON.parse(body)]]);
  for (const { headers, body: text } of refused) expect(await post(headers, text)).toBe(400);
  for (const { secret: wrong, headers } of signedWithout()) {
    vi.stubEnv('WEBHOOK_SECRET', wrong);
    await expect(post(headers, body)).rejects.toThrow(TypeError);
  }
  expect(enqueued).toHaveLength(1);
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasPython)('the Python of the page accepts a delivery, and nothing else', async () => {
  const { sent, refused } = await deliveries();
  const program = `${textOf('python')}
import sys
for case in json.load(sys.stdin):
    try:
        print(json.dumps(verify(case['secret'], case['headers'], case['body'].encode())))
    except ValueError:
        print('"wrong secret"')
`;
  const input = [...[{ headers: sent, body }, ...refused].map((each) => ({ ...each, secret })), ...signedWithout()];
  const output = execFileSync('python3', ['-c', program], { input: JSON.stringify(input), encoding: 'utf8' });
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([JSON.parse(body), ...refused.map(() => null), ...signedWithout().map(() => 'wrong secret')]);
});

test('the sample has the lines that were promised', () => {
  expect(
    textOf('python')
      .split('\n')
      .filter((line) => line.trim() !== '').length,
  ).toBeLessThanOrEqual(15);
});
