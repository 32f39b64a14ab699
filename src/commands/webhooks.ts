import { type Command, Option } from 'commander';
import { type EventType, eventTypeNames, everyEnvironment } from '../audit-log/events.ts';
import { UsageError } from '../errors.ts';
import type { EventEnvironment, WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { escapeControls } from '../terminal-text.ts';
import { redeliverEvents, redeliverEventsAfter } from '../webhooks/deliveries.ts';
import { createWebhook, deleteWebhook, type ListedWebhook, noWebhook, unlisted, updateWebhook } from '../webhooks/webhooks.ts';
import { ownContext, withDatabase } from './context.ts';
import { parseId, parseNumber, repeatedChoice } from './options.ts';
import { describeTimes, printResult, thousands } from './output.ts';

const maxLimit = 1_000;

/** `webhooks list|create|enable|disable|delete|deliveries|redeliver`: manages webhooks. Can be run while the server runs. */
export function define(webhooks: Command): void {
  webhooks.command('list').description('list all webhooks').option('--json', 'JSON instead of text').action(list);
  webhooks
    .command('create')
    .description('create a webhook, and print the secret that verifies its deliveries once')
    .requiredOption('--url <url>', 'where events are sent to; https, or http to the networks in WEBHOOKS_ALLOWED_NETWORKS')
    .addOption(repeatedChoice('--type <type>', 'a type of events to send; may be repeated (default: all)', eventTypeNames))
    .addOption(
      repeatedChoice(
        '--environment <environment>',
        `an environment whose events are sent, one of ${everyEnvironment.join(', ')}; may be repeated (default: all). Untagged: of ` +
          'groups without an environment, None: of the gateway, such as those of API tokens',
        everyEnvironment,
      ),
    )
    .option('--description <text>', 'what the endpoint is for')
    .option('--json', 'one JSON object instead of text')
    .action(create);
  const withId = (name: string, description: string) =>
    webhooks.command(name).description(description).argument('<id>', 'its number', parseId);
  withId('enable', 'send events again, also those that happened meanwhile').action((id: number) => setEnabled(id, true));
  withId('disable', 'send no more events').action((id: number) => setEnabled(id, false));
  withId('delete', 'delete a webhook').action((id: number) =>
    withDatabase('change', async (command) => {
      await deleteWebhook(ownContext(command), id);
      printResult(false, {}, `Deleted the webhook #${id}.`);
    }),
  );
  withId('deliveries', 'list what was sent, the newest first')
    .addOption(new Option('--status <status>', 'only those').choices(['pending', 'delivered', 'failed']))
    .option('--limit <n>', `how many, 1 to ${maxLimit}`, parseNumber(maxLimit), 20)
    .option('--json', 'JSON instead of text')
    .action(deliveries);
  withId('redeliver', 'send events again')
    .option('--event <id>', 'an event, as `deliveries` shows it; may be repeated', (id, ids: string[] = []) => [...ids, id])
    .option('--after <cursor>', 'all events after a cursor of the event feed')
    .option('--json', 'JSON instead of text')
    .action(redeliver);
  webhooks.addHelpText('afterAll', `\nTypes of events:\n${eventTypeNames.map((type) => `  ${type}`).join('\n')}`);
}

function list({ json }: { json?: boolean }): Promise<void> {
  return withDatabase('read', async ({ database }) => {
    const found = await database.prisma.webhook.findMany({ orderBy: { id: 'asc' }, omit: unlisted });
    printResult(json, found.map(membersOf), found.map(describe).join('\n') || 'No webhooks. Create one with `webhooks create`.');
  });
}

interface CreateOptions {
  url: string;
  type?: EventType[];
  environment?: EventEnvironment[];
  description?: string;
  json?: boolean;
}

function create({ url, type: types, environment: environments, description, json }: CreateOptions): Promise<void> {
  return withDatabase('change', async (command) => {
    const { secret, webhook } = await createWebhook(ownContext(command), { url, types, environments, description });
    const text = `${describe(webhook)}\n\nThe secret that verifies its deliveries (shown only once):\n\n  ${secret}\n`;
    const { id } = webhook;
    printResult(json, { id, secret, url: webhook.url, ...filtersOf(webhook), description: webhook.description }, text);
  });
}

function setEnabled(id: number, enabled: boolean): Promise<void> {
  return withDatabase('change', async (command) =>
    printResult(false, {}, describe(await updateWebhook(ownContext(command), id, { enabled }))),
  );
}

function deliveries(id: number, { status, limit, json }: { status?: string; limit: number; json?: boolean }): Promise<void> {
  return withDatabase('read', async ({ database: { prisma } }) => {
    if (!(await prisma.webhook.findUnique({ where: { id }, select: { id: true } }))) throw noWebhook(id);
    const where = { webhookId: id, ...(status && { status: status.toUpperCase() as WebhookDeliveryStatus }) };
    const found = await prisma.webhookDelivery.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1 });
    const listed = found.slice(0, limit);
    printResult(json, listed.map(deliveryMembers), listed.map(describeDelivery).join('\n') || 'No deliveries.');
    const remedy =
      limit < maxLimit ? `--limit lists up to ${thousands(maxLimit)}.` : 'Webhook.deliveries over GraphQL lists all.';
    if (found.length > limit) process.stderr.write(`There are more than these ${thousands(limit)}. ${remedy}\n`);
  });
}

function redeliver(id: number, { event: ids, after, json }: { event?: string[]; after?: string; json?: boolean }): Promise<void> {
  if ((ids === undefined) === (after === undefined))
    throw new UsageError('webhooks redeliver needs --event, once for each event, or --after.');
  return withDatabase('change', async (command) => {
    const context = ownContext(command);
    if (after !== undefined) {
      await redeliverEventsAfter(context, id, after);
      return printResult(json, { deliveries: null }, `The events after the cursor are sent to the webhook #${id} again.`);
    }
    const created = await redeliverEvents(context, id, ids ?? []);
    printResult(json, { deliveries: created.map(deliveryMembers) }, created.map(describeDelivery).join('\n'));
  });
}

/** A webhook as a line of text. */
function describe(webhook: ListedWebhook): string {
  const { id, url, types, environments, description, enabled, disabledReason, failingSince, lastDeliveryAt, createdAt } = webhook;
  const times = { created: createdAt, 'failing since': failingSince, 'last delivery': lastDeliveryAt };
  const parts = [
    types.join(' ') || 'all types',
    environments.join(' ') || 'all environments',
    ...(description === null ? [] : [description]),
    ...(enabled ? [] : [disabledReason === null ? 'disabled' : `disabled: ${disabledReason}`]),
    ...describeTimes(times),
  ];
  return escapeControls([`#${id}  ${url}`, ...parts].join('  ·  '));
}

/** What a webhook takes; null stands for all. */
const filtersOf = ({ types, environments }: ListedWebhook) => ({
  types: types.length > 0 ? types : null,
  environments: environments.length > 0 ? environments : null,
});

/** A webhook as a JSON object. */
function membersOf({ enabled, position: _, ...webhook }: ListedWebhook): object {
  return { ...webhook, ...filtersOf({ enabled, position: _, ...webhook }), status: enabled ? 'enabled' : 'disabled' };
}

/** When a delivery is tried again. */
const nextAttemptOf = ({ status, nextAttemptAt }: WebhookDelivery): Date | null => (status === 'PENDING' ? nextAttemptAt : null);

/** A delivery as a line of text. */
function describeDelivery(delivery: WebhookDelivery): string {
  const { eventId, type, status, attempts, lastAttemptAt, responseStatus, error, createdAt } = delivery;
  const times = { created: createdAt, 'last attempt': lastAttemptAt, 'next attempt': nextAttemptOf(delivery) };
  const parts = [
    type,
    status.toLowerCase(),
    `attempts: ${attempts}`,
    ...(responseStatus === null ? [] : [`response ${responseStatus}`]),
    ...(error === null ? [] : [error]),
    ...describeTimes(times),
  ];
  return escapeControls([eventId, ...parts].join('  ·  '));
}

/** A delivery as a JSON object. */
function deliveryMembers(delivery: WebhookDelivery): object {
  const { id, webhookId: _, status, ...members } = delivery;
  return { id: String(id), ...members, status: status.toLowerCase(), nextAttemptAt: nextAttemptOf(delivery) };
}
