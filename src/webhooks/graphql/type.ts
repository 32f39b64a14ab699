import { isEventType } from '../../audit-log/events.ts';
import { EventEnvironmentType, EventTypeType } from '../../audit-log/graphql.ts';
import { readBigInt } from '../../database/list.ts';
import { InvalidInput } from '../../errors.ts';
import { type WebhookDelivery, WebhookDeliveryStatus } from '../../generated/prisma/client.ts';
import { builder, numberOfNode, readNumber } from '../../graphql/builder.ts';
import type { FieldCost } from '../../graphql/limits.ts';
import { defineConnection, defineNodeFinder, definePages, pageArguments, pageSize } from '../../graphql/nodes.ts';
import { findDelivery, findWebhook, listDeliveries, listWebhooks } from '../deliveries.ts';
import { type ListedWebhook, webhookLimits } from '../webhooks.ts';

const { maxWebhooks } = webhookLimits;

const WebhookStatusType = builder.enumType('WebhookStatus', {
  description: 'Whether events are sent to a webhook.',
  values: {
    ENABLED: { description: 'Events are sent.' },
    DISABLED: { description: 'Nothing is sent until it is enabled again.' },
  } as const,
});

/** A webhook. */
export const WebhookType = builder.objectRef<ListedWebhook>('Webhook');

builder.node(WebhookType, {
  description: 'An endpoint that events are sent to as they happen, without its secret.',
  id: { resolve: ({ id }) => String(id), description: 'The globally unique ID of the webhook.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'url' in value,
  fields: (t) => ({
    number: t.exposeInt('id', { description: 'The number that the commands `webhooks …` show and take.' }),
    url: t.exposeString('url', { description: 'Where events are sent to.' }),
    types: t.field({
      type: [EventTypeType],
      nullable: true,
      description:
        'The types of events that are sent; null means all. One that only a newer version of the gateway knows is missing on an ' +
        'instance of an older one.',
      resolve: ({ types }) => (types.length > 0 ? types.filter(isEventType) : null),
    }),
    environments: t.field({
      type: [EventEnvironmentType],
      nullable: true,
      description: 'The environments whose events are sent; null means all.',
      resolve: ({ environments }) => (environments.length > 0 ? environments : null),
    }),
    description: t.exposeString('description', { nullable: true, description: 'What the endpoint is for.' }),
    status: t.field({
      type: WebhookStatusType,
      description: 'Whether events are sent.',
      resolve: ({ enabled }) => (enabled ? 'ENABLED' : 'DISABLED'),
    }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why the gateway disabled it; otherwise null.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when every attempt has failed; null if none has failed since the last one that succeeded.',
    }),
    lastDeliveryAt: t.expose('lastDeliveryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When something was last sent, successfully or not; null if nothing was.',
    }),
    previousSecretEndsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when deliveries are also signed with the secret that the last rotation replaced; null if they are not.',
      // By the clock of the database.
      resolve: async ({ id, previousSecretEndsAt: endsAt }, _, { sql }) => {
        if (!endsAt) return null;
        const text = 'select id from webhook where id = $1::int and previous_secret_ends_at > now()';
        return (await sql('webhook-with-previous-secret', text, [id])).length > 0 ? endsAt : null;
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

/** What the ID of a webhook is called in inputs. */
export const webhookIdDescription = 'The globally unique ID of the webhook.';

/** The number of the webhook with this ID. @param member the input that has it. @throws InvalidInput when it is not one's. */
export function requireWebhookNumber(nodeId: string, member = 'id'): number {
  const number = numberOfNode('Webhook', nodeId);
  if (number > 0) return number;
  throw new InvalidInput([{ path: [member], message: 'must be the ID of a webhook, as `webhooks` returns it.' }]);
}

defineNodeFinder('Webhook', {
  scope: 'admin',
  noun: 'a webhook',
  find: (context, id) => findWebhook(context, readNumber(id)),
});

builder.queryField('webhooks', (t) =>
  t.field({
    type: defineConnection('Webhook', WebhookType, 'webhooks'),
    nullable: true,
    extensions: { pageSize } satisfies FieldCost,
    description:
      `Lists the webhooks, the newest first, without their secrets. There are at most ${maxWebhooks}. Requires the scope admin. ` +
      '`{ webhooks { nodes { id url types environments status disabledReason lastDeliveryAt } } }`',
    args: pageArguments,
    resolve: (_, page, context) => listWebhooks(context, page),
  }),
);

const DeliveryStatusType = builder.enumType('WebhookDeliveryStatus', {
  description: 'What became of a delivery.',
  values: {
    PENDING: { value: WebhookDeliveryStatus.PENDING, description: 'It is tried, or is tried again.' },
    DELIVERED: { value: WebhookDeliveryStatus.DELIVERED, description: 'The endpoint responded with 2xx.' },
    FAILED: { value: WebhookDeliveryStatus.FAILED, description: 'Its last attempt failed. It is not tried again.' },
  } as const,
});

/** A delivery. */
export const WebhookDeliveryType = builder.objectRef<WebhookDelivery>('WebhookDelivery');

builder.node(WebhookDeliveryType, {
  description: 'An event that is sent to a webhook.',
  id: { resolve: ({ id }) => String(id), description: 'The globally unique ID of the delivery.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'webhookId' in value,
  fields: (t) => ({
    eventId: t.exposeID('eventId', {
      description:
        'The header `webhook-id`: the ID of the event, as `events` returns it, the same in every delivery of it. That of a test ' +
        'event begins with `test_`.',
    }),
    type: t.exposeString('type', {
      description: 'The type of the event, such as `user_group.updated`; `webhook.test` of a test event.',
    }),
    body: t.exposeString('body', { description: 'What is sent: JSON, the same in each attempt.' }),
    status: t.expose('status', { type: DeliveryStatusType, description: 'What became of it.' }),
    attempts: t.exposeInt('attempts', { description: 'How often it was tried.' }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null if it is not. Nothing is tried while the webhook is disabled.',
      resolve: ({ status, nextAttemptAt }) => (status === 'PENDING' ? nextAttemptAt : null),
    }),
    lastAttemptAt: t.expose('lastAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last tried; null if it was not yet.',
    }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'The status of the last response; null if there was none.',
    }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'The beginning of the body of the last response; null if there was none.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the last attempt failed; null if it did not, or its responseStatus says it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
});

defineNodeFinder('WebhookDelivery', {
  scope: 'admin',
  noun: 'a delivery',
  find: (context, id) => {
    const number = readBigInt(id);
    return number === undefined ? undefined : findDelivery(context, number);
  },
});

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: definePages('WebhookDelivery', WebhookDeliveryType, 'deliveries'),
    nullable: true,
    extensions: { pageSize } satisfies FieldCost,
    description:
      'Lists what was sent to a webhook and what is to be sent, the newest first. Deliveries that are not pending are kept for 30 days. ' +
      'Requires the scope admin. What failed: `{ webhookDeliveries(webhook: "…", status: FAILED) { nodes { eventId type responseStatus error } } }`',
    args: {
      webhook: t.arg.id({ required: true, description: webhookIdDescription }),
      status: t.arg({ type: DeliveryStatusType, description: 'Only those with this status. Defaults to all.' }),
      ...pageArguments,
    },
    resolve: (_, { webhook, ...page }, context) => {
      context.caller.require('admin');
      return listDeliveries(context, requireWebhookNumber(webhook, 'webhook'), page);
    },
  }),
);
