import { type EventType, eventTypeNames, everyEnvironment } from '../audit-log/events.ts';
import { type EventEnvironment, type WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { escapeControls, escapeJson } from '../terminal-text.ts';
import { redeliverEvents, redeliverEventsAfter } from '../webhooks/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  type IssuedWebhook,
  type ListedWebhook,
  noWebhook,
  unlisted,
  updateWebhook,
} from '../webhooks/webhooks.ts';
import { ownContext, withDatabaseToRead, withExistingDatabase } from './context.ts';
import {
  assertUnchanged,
  assertValid,
  isRowNumber,
  type OutputStreams,
  readJsonFlag,
  readNumbered,
  readOnlyOptions,
  requireKnown,
  runAction,
} from './options.ts';
import { assertOutput, describeTimes, printResult, printSecret, secretNotIssued, thousands } from './output.ts';

const webhooksHelp = `Usage:
  user-group-gateway webhooks list [--json]
  user-group-gateway webhooks create --url URL [--type T]... [--environment E]... [--description D] [--json]
  user-group-gateway webhooks enable ID
  user-group-gateway webhooks disable ID
  user-group-gateway webhooks delete ID
  user-group-gateway webhooks deliveries ID [--status pending|delivered|failed] [--limit N] [--json]
  user-group-gateway webhooks redeliver ID --event EVENT... | --after=CURSOR [--json]

create prints the secret that verifies deliveries, only once. enable tries what is pending at once, and sends the events that
happened since the webhook was disabled, as far as the audit log still has them. deliveries lists the newest first.
redeliver sends events again: by their ids, as deliveries shows them, or all after a cursor of the event feed.
  --url          where events are sent to; https, or http to the networks in WEBHOOKS_ALLOWED_NETWORKS
  --type         a type of events to send; may be repeated (default: all)
  --environment  an environment whose events are sent: ${everyEnvironment.join(', ')}; may be repeated (default: all). Untagged is
                 of groups without an environment, None of the whole gateway, such as those of API tokens
  --description  what the endpoint is for
  --limit        how many deliveries to list, 1 to 1000 (default: 20)
  --json         JSON instead of text

Types:
${eventTypeNames.map((type) => `  ${type}\n`).join('')}`;

/** How many deliveries are listed by default, and at most. */
const defaultLimit = 20;
const maxLimit = 1_000;

/**
 * `webhooks list|create|enable|disable|delete|deliveries|redeliver`: manages webhooks. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export const webhooks = (args: string[], io: OutputStreams): Promise<number> =>
  runAction('webhooks', webhooksHelp, { list, create, enable, disable, delete: remove, deliveries, redeliver }, args, io);

async function list(args: readonly string[], io: OutputStreams): Promise<number> {
  const asJson = readJsonFlag(args, 'webhooks list', webhooksHelp);
  return withDatabaseToRead(async ({ database }) => {
    const found = await database.prisma.webhook.findMany({ orderBy: { id: 'asc' }, omit: unlisted });
    const text = found.map(describeWebhook).join('\n') || 'No webhooks. Create one with `webhooks create`.';
    return printResult(io, asJson, found.map(webhookMembers), text);
  });
}

/**
 * `webhooks create`: creates a webhook and prints its secret.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 * @throws InvalidInput for a value that the settings do not permit.
 */
async function create(args: readonly string[], io: OutputStreams): Promise<number> {
  const kinds = { url: 'value', type: 'values', environment: 'values', description: 'value', json: 'flag' } as const;
  const options = readOnlyOptions(args, kinds);
  const { given, problems } = options;
  const [url = ''] = given.get('url') ?? [];
  const [description] = given.get('description') ?? [];
  if (!given.has('url')) problems.push('--url is required: where events are sent to.');
  requireKnown(options, 'type', eventTypeNames);
  requireKnown(options, 'environment', everyEnvironment);
  assertValid(problems, 'webhooks create; no webhook was created', webhooksHelp);
  assertOutput(io.stdout, secretNotIssued);
  return withExistingDatabase(async (command) => {
    const types = given.get('type') as EventType[] | undefined;
    const environments = given.get('environment') as EventEnvironment[] | undefined;
    const request = { url, types, environments, description };
    return printIssued(io, await createWebhook(ownContext(command), request), given.has('json'));
  });
}

/** Prints a webhook with its secret. @returns the exit status. */
function printIssued(io: OutputStreams, { secret, webhook }: IssuedWebhook, asJson: boolean): Promise<number> {
  const { id, url, types, environments, description } = webhookMembers(webhook) as Record<string, unknown>;
  const json = escapeJson(JSON.stringify({ id, secret, url, types, environments, description }));
  const text = `${describeWebhook(webhook)}\n\nThe secret that verifies its deliveries (shown only once):\n\n  ${secret}\n`;
  return printSecret(
    io,
    asJson ? json : text,
    (reason) =>
      `The secret of the webhook #${id} was not shown, because the output cannot be written (${reason}). Run ` +
      `\`webhooks delete ${id}\` and create another one, or replace its secret (rotateWebhookSecret over GraphQL).`,
  );
}

const enable = (args: readonly string[], io: OutputStreams) => setEnabled('enable', args, io);
const disable = (args: readonly string[], io: OutputStreams) => setEnabled('disable', args, io);

async function setEnabled(action: 'enable' | 'disable', args: readonly string[], { stdout }: OutputStreams): Promise<number> {
  const { id, problems } = readNumbered('webhooks', action, args, {});
  assertUnchanged(problems);
  return withExistingDatabase(async (command) => {
    stdout.write(`${describeWebhook(await updateWebhook(ownContext(command), id, { enabled: action === 'enable' }))}\n`);
    return 0;
  });
}

async function remove(args: readonly string[], { stdout }: OutputStreams): Promise<number> {
  const { id, problems } = readNumbered('webhooks', 'delete', args, {});
  assertUnchanged(problems);
  return withExistingDatabase(async (command) => {
    await deleteWebhook(ownContext(command), id);
    stdout.write(`Deleted the webhook #${id}.\n`);
    return 0;
  });
}

async function deliveries(args: readonly string[], io: OutputStreams): Promise<number> {
  const kinds = { status: 'value', limit: 'value', json: 'flag' } as const;
  const { id, given, problems } = readNumbered('webhooks', 'deliveries', args, kinds);
  const [name] = given.get('status') ?? [];
  const status = Object.values(WebhookDeliveryStatus).find((each) => each.toLowerCase() === name);
  const [limit = String(defaultLimit)] = given.get('limit') ?? [];
  if (name !== undefined && !status) problems.push(`--status must be pending, delivered or failed, not ${JSON.stringify(name)}.`);
  if (!isRowNumber(limit) || Number(limit) > maxLimit)
    problems.push(`--limit must be a whole number from 1 to ${maxLimit}, not ${JSON.stringify(limit)}.`);
  assertUnchanged(problems);
  return withDatabaseToRead(async ({ database }) => {
    const { webhook, webhookDelivery } = database.prisma;
    if (!(await webhook.findUnique({ where: { id }, select: { id: true } }))) throw noWebhook(id);
    const where = { webhookId: id, ...(status && { status }) };
    const found = await webhookDelivery.findMany({ where, orderBy: { id: 'desc' }, take: Number(limit) + 1 });
    const listed = found.slice(0, Number(limit));
    const text = listed.map(describeDelivery).join('\n') || 'No deliveries.';
    printResult(io, given.has('json'), listed.map(deliveryMembers), text);
    if (found.length > listed.length) (given.has('json') ? io.stderr : io.stdout).write(`${describeMore(listed.length)}\n`);
    return 0;
  });
}

/** Says that there are more deliveries than are listed, and how to see them. */
function describeMore(listed: number): string {
  const remedy = listed < maxLimit ? `--limit lists up to ${thousands(maxLimit)}.` : 'Webhook.deliveries over GraphQL lists all.';
  return `There are more than these ${thousands(listed)}. ${remedy}`;
}

async function redeliver(args: readonly string[], io: OutputStreams): Promise<number> {
  const kinds = { event: 'values', after: 'value', json: 'flag' } as const;
  const { id, given, problems } = readNumbered('webhooks', 'redeliver', args, kinds);
  if (given.has('event') === given.has('after'))
    problems.push('webhooks redeliver needs --event, once for each event, or --after.');
  assertUnchanged(problems);
  const [after] = given.get('after') ?? [];
  return withExistingDatabase(async (command) => {
    const context = ownContext(command);
    const asJson = given.has('json');
    if (after !== undefined) {
      await redeliverEventsAfter(context, id, after);
      return printResult(io, asJson, { deliveries: null }, `The events after the cursor are sent to the webhook #${id} again.`);
    }
    const created = await redeliverEvents(context, id, given.get('event') ?? []);
    const text = created.map(describeDelivery).join('\n');
    return printResult(io, asJson, { deliveries: created.map(deliveryMembers) }, text);
  });
}

/** A webhook as a line of text. */
function describeWebhook(webhook: ListedWebhook): string {
  const { id, url, types, environments, description, enabled, disabledReason, failingSince, lastDeliveryAt, createdAt } = webhook;
  const times = { created: createdAt, 'failing since': failingSince, 'last delivery': lastDeliveryAt };
  const parts = [
    types.join(' ') || 'all types',
    environments.join(' ') || 'all environments',
    ...(description === null ? [] : [escapeControls(description)]),
    ...(enabled ? [] : [disabledReason === null ? 'disabled' : `disabled: ${escapeControls(disabledReason)}`]),
    ...describeTimes(times),
  ];
  return [`#${id}  ${escapeControls(url)}`, ...parts].join('  ·  ');
}

/** A webhook as a JSON object; null stands for all types, or all environments. */
function webhookMembers({ types, environments, enabled, position: _, ...webhook }: ListedWebhook): object {
  return {
    ...webhook,
    types: types.length > 0 ? types : null,
    environments: environments.length > 0 ? environments : null,
    status: enabled ? 'enabled' : 'disabled',
  };
}

/** A delivery as a line of text. */
function describeDelivery(delivery: WebhookDelivery): string {
  const { eventId, type, status, attempts, nextAttemptAt, lastAttemptAt, responseStatus, error, createdAt } = delivery;
  const isPending = status === 'PENDING';
  const times = { created: createdAt, 'last attempt': lastAttemptAt, 'next attempt': isPending ? nextAttemptAt : null };
  const parts = [
    escapeControls(type),
    status.toLowerCase(),
    `attempts: ${attempts}`,
    ...(responseStatus === null ? [] : [`response ${responseStatus}`]),
    ...(error === null ? [] : [escapeControls(error)]),
    ...describeTimes(times),
  ];
  return [eventId, ...parts].join('  ·  ');
}

/** A delivery as a JSON object. */
function deliveryMembers({ id, webhookId: _, status, nextAttemptAt, ...delivery }: WebhookDelivery): object {
  const isPending = status === 'PENDING';
  return { id: String(id), ...delivery, status: status.toLowerCase(), nextAttemptAt: isPending ? nextAttemptAt : null };
}
