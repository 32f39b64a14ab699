import { encodeGlobalID } from '@pothos/plugin-relay';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventKey } from '../../src/audit-log/events.ts';
import { writeCursor } from '../../src/database/list.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { binary, endProcesses, launch, run, until } from '../support/process.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** For the commands: no gateway delivers what they redeliver. */
let database: TestDatabase;
let gateway: TestGateway;
let token: string;
beforeAll(async () => {
  [database, gateway] = await Promise.all([createTestDatabase(), startGateway()]);
  token = (await gateway.issue({ scopes: ['audit:read'] })).secret;
});
afterAll(async () => {
  await endProcesses();
  await Promise.all([database.close(), gateway.close()]);
});

const settings = () => ({ DATABASE_URL: database.url });
const webhooks = (...args: string[]) => run(['webhooks', ...args], settings());
const create = async () => String(JSON.parse((await webhooks('create', '--url', 'https://a.invalid/', '--json')).stdout).id);

test('webhooks create prints the secret once; list, disable, enable, and delete know the webhook', async () => {
  const types = ['--type', 'user_group.created', '--type', 'user_group.deleted'];
  const args = ['--url', 'https://a.invalid/path', ...types, '--environment', 'Testing', '--description', 'cache “A”'];
  const made = await webhooks('create', ...args);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const [line = ''] = made.stdout.split('\n');
  const [, id = ''] = /^#(\d+) {2}https:\/\/a\.invalid\/path {2}· /.exec(line) ?? [];
  expect(made.stdout.match(/whsec_[A-Za-z0-9+/]{43}=/g)).toHaveLength(1);
  expect((await webhooks('list')).stdout).toBe(`${line}\n`);
  expect(line).toContain('user_group.created user_group.deleted  ·  Testing  ·  cache “A”  ·  created ');
  for (const action of ['disable', 'enable']) {
    const { stdout } = await webhooks(action, id);
    expect([stdout.includes('  ·  disabled  ·  '), (await webhooks('list')).stdout]).toEqual([action === 'disable', stdout]);
  }
  expect(JSON.parse((await webhooks('list', '--json')).stdout)).toMatchObject([{ id: Number(id), status: 'enabled' }]);
  expect(await webhooks('delete', id)).toMatchObject({ code: 0, stdout: `Deleted the webhook #${id}.\n` });
  expect((await webhooks('list')).stdout).toBe('No webhooks. Create one with `webhooks create`.\n');
});

test('webhooks create --json prints exactly the documented members, and takes http to the networks of the setting alone', async () => {
  const args = ['webhooks', 'create', '--json', '--url', 'http://10.1.2.3/hooks'];
  expect((await run(args, settings())).stderr).toMatch(/^url: must begin with https/);
  const { stdout } = await run(args, { ...settings(), WEBHOOKS_ALLOWED_NETWORKS: '10.1.0.0/16' });
  const others = { url: 'http://10.1.2.3/hooks', types: null, environments: null, description: null };
  expect(JSON.parse(stdout)).toEqual({ id: expect.any(Number), secret: expect.stringMatching(/^whsec_/), ...others });
  const failed = await webhooks('redeliver', '2000000000', '--event', 'x');
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('No webhook has the number 2000000000')]);
});

test('webhooks redeliver sends events again, or goes back to a cursor of the feed, and deliveries lists them', async () => {
  const id = await create();
  const event = await database.prisma.event.findFirstOrThrow({ where: { type: 'webhook.created' } });
  const eventId = encodeGlobalID('Event', eventKey(event));
  const { stdout } = await webhooks('redeliver', id, '--event', eventId);
  expect(stdout).toMatch(new RegExp(`^${eventId} {2}· {2}webhook\\.created {2}· {2}pending {2}· {2}attempts: 0`));
  expect((await webhooks('deliveries', id, '--status', 'failed')).stdout).toBe('No deliveries.\n');
  const listed = await webhooks('deliveries', id, '--limit', '1', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject([{ eventId, responseStatus: null, error: null }]);
  const { rows } = await database.pool.query(
    'insert into event_feed (last_position) values (7) on conflict (id) do update set last_position = 7 returning epoch',
  );
  const sent = await webhooks('redeliver', id, `--after=${writeCursor('EventFeed', [rows[0].epoch, '3'])}`);
  expect(sent.stdout).toBe(`The events after the cursor are sent to the webhook #${id} again.\n`);
  const stored = await database.prisma.webhook.findUnique({ where: { id: Number(id) } });
  expect(stored).toMatchObject({ position: 3n });
});

const createGroup = (id: string) => gateway.send('GET', '/api/user', { body: { user_group_id: id } });
const listen = (...args: string[]) => launch(process.execPath, [binary, 'listen', ...args], { API_TOKEN: token });

test('listen posts each event from now on, signed, and prints a line for it', async () => {
  await createGroup('before');
  const receiver = await startReceiver((response, { body }) => response.writeHead(body.includes('second') ? 500 : 204).end());
  const args = ['--forward-to', `${receiver.url}/hooks`, '--url', gateway.url, '--type', 'user_group.created'];
  const running = listen(...args);
  const signed = () => /signed with (whsec_\S+)\n/.exec(running.output.stdout);
  const [, secret = ''] = await until(signed, 'it says how events are signed');
  await createGroup('first');
  await createGroup('second');
  await until(() => running.output.stdout.includes('second'), 'the second event is printed');
  const lines = running.output.stdout.trim().split('\n').slice(1);
  expect(lines.map((line) => line.split('  ').slice(1, 4))).toEqual([
    ['204', 'user_group.created', 'first'],
    ['500', 'user_group.created', 'second'],
  ]);
  const verified = receiver.received.map(({ headers, body }) => new Webhook(secret).verify(body, headers as never));
  expect(verified).toMatchObject([{ data: { provided_id: 'first', environment: 'Testing' } }, {}]);
  await receiver.close();
  await createGroup('third');
  const failure = /failed \(ECONNREFUSED\) {2}user_group.created {2}third/;
  await until(() => failure.test(running.output.stdout), 'the failure is printed');
});

test('listen waits for its gateway, and ends when the gateway refuses', async () => {
  const closed = await startReceiver();
  await closed.close();
  const running = listen('--forward-to', closed.url, '--url', closed.url);
  const tries = /^(http:\S+ does not respond: .*ECONNREFUSED.* Trying again\.\n){2}/;
  await until(() => tries.test(running.output.stderr), 'it says that it tries again, and does so');
  const args = ['listen', '--forward-to', closed.url, '--url', gateway.url];
  const { code, stderr } = await run(args, { API_TOKEN: gateway.token });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/responded with FORBIDDEN: .*audit:read/)]);
});
