import type { Writable } from 'node:stream';
import { encodeGlobalID } from '@pothos/plugin-relay';
import { bindFeed } from '../audit-log/statements/feed.ts';
import { createDb } from '../db.ts';
import { WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { escapeJson } from '../terminal-text.ts';
import { redeliverEvents, redeliverEventsAfter } from '../webhooks/deliveries.ts';
import { listDeliveries } from '../webhooks/list.ts';
import { deleteWebhook, findWebhook, listWebhooks, updateWebhook } from '../webhooks/webhooks.ts';
import { ownAuthor, withExistingDatabase } from './context.ts';
import { asksForHelp, isRowNumber, type OptionKind, type ReadOptions, readOptions, UsageError } from './options.ts';
import { createWebhookByOptions } from './webhooks-create.ts';
import { deliveryMembers, describeDelivery, describeWebhook, webhookMembers, webhooksHelp } from './webhooks-text.ts';

/** The streams of `webhooks`. */
export interface WebhooksIo {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** How many deliveries are listed by default, and at most. */
const defaultLimit = 20;
const maxLimit = 1_000;

/**
 * `webhooks list|create|enable|disable|delete|deliveries|redeliver`: manages webhooks. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function webhooks([action, ...args]: string[], io: WebhooksIo = process): Promise<number> {
  if (asksForHelp([action, ...args])) {
    io.stdout.write(webhooksHelp);
    return 0;
  }
  switch (action) {
    case 'list':
      return list(args, io);
    case 'create':
      return createWebhookByOptions(args, io);
    case 'enable':
    case 'disable':
      return setEnabled(action, args, io);
    case 'delete':
      return remove(args, io);
    case 'deliveries':
      return deliveries(args, io);
    case 'redeliver':
      return redeliver(args, io);
    default:
      throw new UsageError(`${action ? `Unknown command "webhooks ${action}".` : 'No subcommand was given.'}\n\n${webhooksHelp}`);
  }
}

async function list(args: readonly string[], { stdout }: WebhooksIo): Promise<number> {
  const { given, words, problems } = readOptions(args, { json: 'flag' });
  if (words.length + problems.length > 0) {
    throw new UsageError([...problems, 'webhooks list accepts only --json.', '', webhooksHelp].join('\n'));
  }
  return withExistingDatabase(async ({ database }) => {
    const found = await listWebhooks(database.prisma);
    const text = found.map(describeWebhook).join('\n') || 'No webhooks. Create one with `webhooks create`.';
    stdout.write(`${given.has('json') ? escapeJson(JSON.stringify(found.map(webhookMembers))) : text}\n`);
    return 0;
  });
}

async function setEnabled(action: 'enable' | 'disable', args: readonly string[], { stdout }: WebhooksIo): Promise<number> {
  const { id } = readNumbered(action, args, {});
  return withExistingDatabase(async ({ database }) => {
    const context = { db: createDb(database), webhookNetworks: [] };
    stdout.write(`${describeWebhook(await updateWebhook(context, id, { enabled: action === 'enable' }, ownAuthor()))}\n`);
    return 0;
  });
}

async function remove(args: readonly string[], { stdout }: WebhooksIo): Promise<number> {
  const { id } = readNumbered('delete', args, {});
  return withExistingDatabase(async ({ database }) => {
    await deleteWebhook({ db: createDb(database) }, id, ownAuthor());
    stdout.write(`Deleted the webhook #${id}.\n`);
    return 0;
  });
}

async function deliveries(args: readonly string[], { stdout }: WebhooksIo): Promise<number> {
  const { id, given } = readNumbered('deliveries', args, { status: 'value', limit: 'value', json: 'flag' }, ({ given }) => {
    const [status] = given.get('status') ?? [];
    const [limit = String(defaultLimit)] = given.get('limit') ?? [];
    return [
      ...(status === undefined || statusOf(status) ? [] : [`--status must be ${statusNames}, not ${JSON.stringify(status)}.`]),
      ...(isRowNumber(limit) && Number(limit) <= maxLimit
        ? []
        : [`--limit must be a whole number from 1 to ${maxLimit}, not ${JSON.stringify(limit)}.`]),
    ];
  });
  const [status = ''] = given.get('status') ?? [];
  const [limit = defaultLimit] = given.get('limit') ?? [];
  return withExistingDatabase(async ({ database }) => {
    await findWebhook(database.prisma, id);
    const found = await listDeliveries(database.prisma, id, { status: statusOf(status), limit: Number(limit) });
    const text = found.map(describeDelivery).join('\n') || 'No deliveries.';
    stdout.write(`${given.has('json') ? escapeJson(JSON.stringify(found.map(deliveryMembers))) : text}\n`);
    return 0;
  });
}

const statusNames = 'pending, delivered or failed';

const statusOf = (text: string): WebhookDeliveryStatus | undefined =>
  Object.values(WebhookDeliveryStatus).find((status) => status.toLowerCase() === text);

async function redeliver(args: readonly string[], { stdout }: WebhooksIo): Promise<number> {
  const { id, given } = readNumbered('redeliver', args, { event: 'values', after: 'value', json: 'flag' }, ({ given }) =>
    given.has('event') === given.has('after') ? ['webhooks redeliver needs --event, once for each event, or --after.'] : [],
  );
  const [after] = given.get('after') ?? [];
  return withExistingDatabase(async ({ database }) => {
    const context = { db: createDb(database), feed: bindFeed(database), globalId: encodeGlobalID };
    const asJson = given.has('json');
    if (after !== undefined) {
      await redeliverEventsAfter(context, id, after);
      stdout.write(asJson ? '{"deliveries":null}\n' : `The events after the cursor are sent to the webhook #${id} again.\n`);
      return 0;
    }
    const created = await redeliverEvents(context, id, given.get('event') ?? []);
    const json = escapeJson(JSON.stringify({ deliveries: created.map(deliveryMembers) }));
    stdout.write(`${asJson ? json : created.map(describeDelivery).join('\n')}\n`);
    return 0;
  });
}

/** Reads the number of a webhook and options. @throws UsageError that lists every problem. */
function readNumbered(
  action: string,
  args: readonly string[],
  kinds: Readonly<Record<string, OptionKind>>,
  problemsOf: (options: ReadOptions) => readonly string[] = () => [],
): { readonly id: number; readonly given: ReadOptions['given'] } {
  const options = readOptions(args, kinds);
  const [id = ''] = options.words;
  const isNumbered = options.words.length === 1 && isRowNumber(id);
  const all = [
    ...options.problems,
    ...(isNumbered ? [] : [`webhooks ${action} takes one numeric id; \`webhooks list\` shows the ids.`]),
    ...problemsOf(options),
  ];
  if (all.length > 0) throw new UsageError(`${all.join('\n')}\nNothing was changed.`);
  return { id: Number(id), given: options.given };
}
