import { eventTypeNames, everyEnvironment } from '../audit-log/events.ts';
import type { WebhookDelivery } from '../generated/prisma/client.ts';
import { escapeControls } from '../terminal-text.ts';
import type { ListedWebhook } from '../webhooks/webhooks.ts';

/** What `webhooks --help` prints. */
export const webhooksHelp = `Usage:
  user-group-gateway webhooks list [--json]
  user-group-gateway webhooks create --url URL [--type T]... [--environment E]... [--description D] [--json]
  user-group-gateway webhooks enable ID
  user-group-gateway webhooks disable ID
  user-group-gateway webhooks delete ID
  user-group-gateway webhooks deliveries ID [--status pending|delivered|failed] [--limit N] [--json]
  user-group-gateway webhooks redeliver ID --event EVENT... | --after CURSOR [--json]

create prints the secret that verifies deliveries, only once. enable tries what is pending at once, and sends the events that
happened since the webhook was disabled. deliveries lists the newest first.
redeliver sends events again: by their ids, as deliveries shows them, or all after a cursor of the event feed.
  --url          where events are sent to; https, or http to the networks in WEBHOOKS_ALLOWED_NETWORKS
  --type         a type of events to send; may be repeated (default: all)
  --environment  an environment whose events are sent: ${everyEnvironment.join(', ')}; may be repeated (default: all)
  --description  what the endpoint is for
  --limit        how many deliveries to list, 1 to 1000 (default: 20)
  --json         JSON instead of text

Types:
${eventTypeNames.map((type) => `  ${type}\n`).join('')}`;

/** A webhook as a line of text. */
export function describeWebhook(webhook: ListedWebhook): string {
  const { id, url, types, environments, description, enabled, disabledReason, failingSince, lastDeliveryAt, createdAt } = webhook;
  const times = { created: createdAt, 'failing since': failingSince, 'last delivery': lastDeliveryAt };
  const parts = [
    types.join(' ') || 'all types',
    environments.join(' ') || 'all environments',
    ...(description === null ? [] : [escapeControls(description)]),
    ...(enabled ? [] : [disabledReason === null ? 'disabled' : `disabled: ${escapeControls(disabledReason)}`]),
    ...Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : [])),
  ];
  return [`#${id}  ${escapeControls(url)}`, ...parts].join('  ·  ');
}

/** A webhook as a JSON object; null stands for all types, or all environments. */
export function webhookMembers({ types, environments, enabled, position: _, ...webhook }: ListedWebhook): object {
  return {
    ...webhook,
    types: types.length > 0 ? types : null,
    environments: environments.length > 0 ? environments : null,
    status: enabled ? 'enabled' : 'disabled',
  };
}

/** A delivery as a line of text. */
export function describeDelivery(delivery: WebhookDelivery): string {
  const { eventId, type, status, attempts, nextAttemptAt, lastAttemptAt, responseStatus, error, createdAt } = delivery;
  const isPending = status === 'PENDING';
  const times = { created: createdAt, 'last attempt': lastAttemptAt, 'next attempt': isPending ? nextAttemptAt : null };
  const parts = [
    escapeControls(type),
    status.toLowerCase(),
    `attempts: ${attempts}`,
    ...(responseStatus === null ? [] : [`response ${responseStatus}`]),
    ...(error === null ? [] : [escapeControls(error)]),
    ...Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : [])),
  ];
  return [eventId, ...parts].join('  ·  ');
}

/** A delivery as a JSON object. */
export function deliveryMembers({ id, webhookId: _, status, nextAttemptAt, ...delivery }: WebhookDelivery): object {
  const isPending = status === 'PENDING';
  return { id: String(id), ...delivery, status: status.toLowerCase(), nextAttemptAt: isPending ? nextAttemptAt : null };
}
