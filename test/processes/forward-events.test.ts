import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { binary, endProcesses, launch, type Running, run, until } from '../support/process.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = (await gateway.issue({ environment: 'Testing', scopes: ['audit:read'] })).secret;
});
afterAll(async () => {
  await endProcesses();
  await gateway.close();
});

async function create(id: string): Promise<void> {
  const { status } = await gateway.send('GET', '/api/user', { body: { user_group_id: id } });
  expect(status).toBe(200);
}

/** Waits until the command has printed a text. It fails with what the command says of errors. */
const untilPrinted = ({ output }: Running, text: string) =>
  until(
    () => output.stdout.includes(text),
    () => `${text} is printed; ${JSON.stringify(output)}`,
  );

test('listen posts each event from now on, signed, and prints a line for it', async () => {
  await create('before');
  const receiver = await startReceiver((response, { body }) => response.writeHead(body.includes('second') ? 500 : 204).end());
  const args = ['listen', '--forward-to', `${receiver.url}/hooks`, '--url', gateway.url, '--type', 'user_group.created'];
  const running = launch(process.execPath, [binary, ...args], { API_TOKEN: token });
  const [, secret = ''] = await until(
    () => /signed with (whsec_\S+)\n/.exec(running.output.stdout),
    'it says how events are signed',
  );
  await create('first');
  await gateway.send('PUT', '/api/user', { body: { user_group_id: 'first', name: 'of another type' } });
  await create('second');
  await untilPrinted(running, 'second');
  const lines = running.output.stdout.trim().split('\n').slice(1);
  expect(lines.map((line) => line.split('  ').slice(1, 4))).toEqual([
    ['204', 'user_group.created', 'first'],
    ['500', 'user_group.created', 'second'],
  ]);
  const verified = receiver.received.map(({ headers, body }) => new Webhook(secret).verify(body, headers as never));
  expect(verified).toMatchObject([
    { data: { provided_id: 'first', environment: 'Testing' } },
    { data: { provided_id: 'second' } },
  ]);
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(lines.map((line) => line.split('  ')[4]));
  await receiver.close();
  await create('third');
  await until(
    () => /failed \(ECONNREFUSED\) {2}user_group.created {2}third/.test(running.output.stdout),
    'the failure is printed',
  );
});

test('listen forwards what follows a cursor', async () => {
  const { status, json } = await gateway.send('GET', '/api/events?after=latest', { token });
  expect(status).toBe(200);
  await create('behind the cursor');
  const receiver = await startReceiver();
  const args = ['listen', '--forward-to', receiver.url, '--url', gateway.url, `--after=${json.cursor}`];
  const running = launch(process.execPath, [binary, ...args], { API_TOKEN: token });
  await untilPrinted(running, 'behind the cursor');
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.provided_id)).toEqual(['behind the cursor']);
  await receiver.close();
});

test('listen that starts before its gateway says what it waits for', async () => {
  const closed = await startReceiver();
  await closed.close();
  const running = launch(process.execPath, [binary, 'listen', '--forward-to', closed.url, '--url', closed.url], {
    API_TOKEN: token,
  });
  const tries = /^(http:\S+ does not respond: .*ECONNREFUSED.* Trying again\.\n){2}/;
  await until(() => tries.test(running.output.stderr), 'it says that it tries again, and does so');
});

test('listen ends when the gateway refuses', async () => {
  const args = ['listen', '--forward-to', 'http://127.0.0.1:9', '--url', gateway.url];
  const { code, stderr } = await run(args, { API_TOKEN: gateway.token });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/responded with FORBIDDEN: .*audit:read/) });
});
