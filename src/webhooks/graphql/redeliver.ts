import { NotFound } from '../../errors.ts';
import type { WebhookDelivery } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { redeliverEvents, redeliverEventsAfter } from '../deliveries.ts';
import { webhookLimits } from '../rules.ts';
import { requireWebhookNumber, WebhookDeliveryType, webhookIdDescription } from './type.ts';

const { maxRedeliveredIds } = webhookLimits;

const RedeliverEventsPayload = builder.objectRef<{ deliveries: WebhookDelivery[] | null }>('RedeliverEventsPayload').implement({
  description: 'Events are sent again.',
  fields: (t) => ({
    deliveries: t.expose('deliveries', {
      type: [WebhookDeliveryType],
      nullable: true,
      description: 'The new deliveries, by `ids`; null by `after`, where they are created within seconds.',
    }),
  }),
});

const RedeliverEventsInput = builder.inputType('RedeliverEventsInput', {
  description: 'Which events are sent again.',
  isOneOf: true,
  fields: (t) => ({
    ids: t.idList({
      description:
        `The IDs of 1 to ${maxRedeliveredIds} events, as \`events\` and \`webhookDeliveries\` return them, of types and environments ` +
        'that the webhook takes.',
    }),
    after: t.string({ description: 'A cursor of `eventFeed`: every event after it that the webhook takes.' }),
  }),
});

builder.mutationField('redeliverEvents', (t) =>
  t.field({
    type: RedeliverEventsPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'That events are sent again, or an error.' } },
    description:
      'Sends events to a webhook again, each with the `webhook-id` that it had, whether they were delivered or not. A webhook that is ' +
      'disabled is InvalidInput. Requires the scope admin.',
    args: {
      webhook: t.arg.id({ required: true, description: webhookIdDescription }),
      input: t.arg({ type: RedeliverEventsInput, required: true, description: 'Which events are sent again.' }),
    },
    resolve: async (_, { webhook, input: { ids, after } }, context) => {
      context.caller.require('admin');
      const number = requireWebhookNumber(webhook, 'webhook');
      if (ids) return { deliveries: await redeliverEvents(context, number, ids) };
      await redeliverEventsAfter(context, number, after ?? '');
      return { deliveries: null };
    },
  }),
);
