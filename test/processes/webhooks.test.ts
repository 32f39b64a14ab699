import { encodeGlobalID } from '@pothos/plugin-relay';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventKey } from '../../src/audit-log/events.ts';
import { writeCursor } from '../../src/database/list.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endProcesses, run } from '../support/process.ts';

let database: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  database = await createTestDatabase();
  settings = { DATABASE_URL: database.url };
});
afterAll(async () => {
  await endProcesses();
  await database.close();
});
beforeEach(async () => {
  await database.pool.query('truncate webhook, webhook_delivery, event');
});

const webhooks = (...args: string[]) => run(['webhooks', ...args], settings);
const create = async (...args: string[]): Promise<{ id: number; secret: string }> =>
  JSON.parse((await webhooks('create', '--url', 'https://hooks.example.com/a', '--json', ...args)).stdout);

test('webhooks create prints the secret once; list, delete and the audit log know the webhook', async () => {
  const made = await webhooks(
    ...['create', '--url', 'https://hooks.example.com/path', '--type', 'user_group.created', '--type', 'user_group.deleted'],
    ...['--environment', 'Testing', '--description', 'cache “A”'],
  );
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const [, id = ''] = /^#(\d+) {2}https:\/\/hooks\.example\.com\/path {2}· /.exec(made.stdout) ?? [];
  expect(made.stdout.match(/whsec_[A-Za-z0-9+/]{43}=/g)).toHaveLength(1);

  const listed = await webhooks('list');
  expect(listed.stdout).toBe(`${made.stdout.split('\n')[0]}\n`);
  expect(listed.stdout).toContain('user_group.created user_group.deleted  ·  Testing  ·  cache “A”  ·  created ');
  expect(JSON.parse((await webhooks('list', '--json')).stdout)).toEqual([
    {
      id: Number(id),
      url: 'https://hooks.example.com/path',
      types: ['user_group.created', 'user_group.deleted'],
      environments: ['Testing'],
      description: 'cache “A”',
      status: 'enabled',
      disabledReason: null,
      failingSince: null,
      lastDeliveryAt: null,
      previousSecretEndsAt: null,
      createdAt: expect.stringMatching(/^\d{4}-/),
    },
  ]);

  expect(await webhooks('delete', id)).toMatchObject({ code: 0, stdout: `Deleted the webhook #${id}.\n` });
  expect((await webhooks('list')).stdout).toBe('No webhooks. Create one with `webhooks create`.\n');
  expect((await webhooks('list', '--json')).stdout).toBe('[]\n');
  const events = await database.prisma.event.findMany({ orderBy: { id: 'asc' } });
  expect(events.map(({ type, actorKind }) => [type, actorKind])).toEqual([
    ['webhook.created', 'CLI'],
    ['webhook.deleted', 'CLI'],
  ]);
});

test('webhooks create --json prints one object with exactly the documented members', async () => {
  const { code, stdout, stderr } = await webhooks('create', '--url=https://hooks.example.com/', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    id: expect.any(Number),
    secret: expect.stringMatching(/^whsec_/),
    url: 'https://hooks.example.com/',
    types: null,
    environments: null,
    description: null,
  });
});

test('webhooks create takes http to the networks of the setting alone', async () => {
  const args = ['webhooks', 'create', '--url', 'http://10.1.2.3/hooks'];
  const refused = await run(args, settings);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^url: must begin with https/) });
  expect(await run(args, { ...settings, WEBHOOKS_ALLOWED_NETWORKS: '10.1.0.0/16' })).toMatchObject({ code: 0, stderr: '' });
});

test.each([['enable'], ['disable'], ['delete'], ['deliveries'], ['redeliver', '--event', 'x']])(
  'webhooks %s of one that does not exist fails',
  async (action, ...rest) => {
    const failed = await webhooks(action, '2000000000', ...rest);
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No webhook has the number 2000000000'),
    });
  },
);

test('webhooks redeliver sends events again, and deliveries lists them', async () => {
  const { id } = await create();
  expect(await webhooks('deliveries', String(id))).toMatchObject({ code: 0, stdout: 'No deliveries.\n' });
  const event = await database.prisma.event.findFirstOrThrow({ where: { type: 'webhook.created' } });
  const eventId = encodeGlobalID('Event', eventKey(event));
  const sent = await webhooks('redeliver', String(id), '--event', eventId);
  expect(sent).toMatchObject({ code: 0, stderr: '' });
  expect(sent.stdout).toMatch(new RegExp(`^${eventId} {2}· {2}webhook\\.created {2}· {2}pending {2}· {2}attempts: 0`));
  expect((await webhooks('deliveries', String(id), '--status', 'pending')).stdout).toBe(sent.stdout);
  expect((await webhooks('deliveries', String(id), '--status', 'failed', '--json')).stdout).toBe('[]\n');
  const [listed] = JSON.parse((await webhooks('deliveries', String(id), '--limit=1', '--json')).stdout);
  expect(listed).toMatchObject({
    id: expect.stringMatching(/^\d+$/),
    eventId,
    status: 'pending',
    responseStatus: null,
    error: null,
  });

  await webhooks('redeliver', String(id), '--event', eventId);
  const more = 'There are more than these 1. --limit lists up to 1,000.\n';
  const json = await webhooks('deliveries', String(id), '--limit', '1', '--json');
  expect([JSON.parse(json.stdout).length, json.stderr]).toEqual([1, more]);
  const text = await webhooks('deliveries', String(id), '--limit', '1');
  expect([text.stdout.split('\n').length, text.stderr]).toEqual([2, more]);
  expect(await webhooks('deliveries', String(id), '--limit', '2', '--json')).toMatchObject({ stderr: '' });

  const unknown = await webhooks('redeliver', String(id), '--event', 'x');
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^ids\.0: is not the ID of an event/) });
});

test('webhooks disable and enable change whether events are sent', async () => {
  const { id } = await create();
  const lines: string[] = [];
  for (const action of ['disable', 'enable']) {
    const { code, stdout, stderr } = await webhooks(action, String(id));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await webhooks('list')).stdout).toBe(stdout);
    lines.push(stdout);
  }
  expect(lines.map((line) => line.includes('  ·  disabled  ·  '))).toEqual([true, false]);
  const events = await database.prisma.event.findMany({ where: { type: 'webhook.updated' }, orderBy: { id: 'asc' } });
  expect(events.map(({ changes }) => changes)).toEqual([
    { webhook: { from: id, to: id }, enabled: { from: true, to: false } },
    { webhook: { from: id, to: id }, enabled: { from: false, to: true } },
  ]);
});

test('webhooks redeliver --after goes back to a cursor of the feed', async () => {
  const { id } = await create();
  const { rows } = await database.pool.query(
    'insert into event_feed (last_position) values (7) on conflict (id) do update set last_position = 7 returning epoch',
  );
  await database.prisma.webhook.update({ where: { id }, data: { position: 7n } });
  const cursor = writeCursor('EventFeed', [rows[0].epoch, '3']);
  const sent = await webhooks('redeliver', String(id), `--after=${cursor}`);
  expect(sent).toMatchObject({
    code: 0,
    stderr: '',
    stdout: `The events after the cursor are sent to the webhook #${id} again.\n`,
  });
  expect(await database.prisma.webhook.findUnique({ where: { id } })).toMatchObject({ position: 3n });
});
