import { maxOverlapSeconds } from '../../api-tokens/api-tokens.ts';
import { EventEnvironmentType, EventTypeType } from '../../audit-log/graphql.ts';
import { NotFound } from '../../errors.ts';
import type { WebhookDelivery } from '../../generated/prisma/client.ts';
import { builder } from '../../graphql/builder.ts';
import { redeliverEvents, redeliverEventsAfter, sendTestEvent } from '../deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  type IssuedWebhook,
  type ListedWebhook,
  rotateWebhookSecret,
  updateWebhook,
  webhookLimits,
} from '../webhooks.ts';
import { requireWebhookNumber, WebhookDeliveryType, WebhookType, webhookIdDescription } from './type.ts';

const { maxWebhooks } = webhookLimits;

const urlDescription =
  'Where events are sent to by POST: an https URL of at most 2048 characters, without credentials and without a fragment; http is ' +
  'permitted to the networks in WEBHOOKS_ALLOWED_NETWORKS.';
const typesDescription = 'The types of events that are sent: at least one.';
const environmentsDescription = 'The environments whose events are sent: at least one.';
const descriptionDescription = 'What the endpoint is for: 1 to 255 characters, no control characters.';

const CreateWebhookPayload = builder.objectRef<IssuedWebhook>('CreateWebhookPayload').implement({
  description: 'The new webhook with its secret.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: WebhookType, description: 'The new webhook.' }),
    secret: t.exposeString('secret', {
      description: 'What the endpoint verifies deliveries with, as Standard Webhooks has it: `whsec_…`. Shown only here.',
    }),
  }),
});

builder.mutationField('createWebhook', (t) =>
  t.field({
    type: CreateWebhookPayload,
    nullable: true,
    errors: { types: [], union: { description: 'The new webhook with its secret, or an error.' } },
    description:
      'Creates a webhook, which takes the events from now on. Each call creates another one, unless it repeats a request with an ' +
      `Idempotency-Key. There may be ${maxWebhooks}. Requires the scope admin.`,
    args: {
      input: t.arg({
        required: true,
        description: 'The properties of the webhook.',
        type: builder.inputType('CreateWebhookInput', {
          description: 'The properties of a webhook.',
          fields: (field) => ({
            url: field.string({ required: true, description: urlDescription }),
            types: field.field({ type: [EventTypeType], description: `${typesDescription} Defaults to all.` }),
            environments: field.field({
              type: [EventEnvironmentType],
              description: `${environmentsDescription} Defaults to all.`,
            }),
            description: field.string({ description: descriptionDescription }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, context) => {
      context.caller.require('admin');
      return createWebhook(context, input);
    },
  }),
);

const UpdateWebhookPayload = builder.objectRef<{ webhook: ListedWebhook }>('UpdateWebhookPayload').implement({
  description: 'The changed webhook.',
  fields: (t) => ({ webhook: t.expose('webhook', { type: WebhookType, description: 'The changed webhook.' }) }),
});

builder.mutationField('updateWebhook', (t) =>
  t.field({
    type: UpdateWebhookPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The changed webhook, or an error.' } },
    description:
      'Changes the given properties of a webhook. While it is enabled, pending deliveries are still sent, also of events that it no longer takes. ' +
      'When it is enabled again, they are tried at once (at most 10,000 of those that wait for another attempt), and the events that happened meanwhile are sent, as far as the audit log still has them. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The webhook, and its new properties.',
        type: builder.inputType('UpdateWebhookInput', {
          description: 'The webhook, and its new properties. What is omitted stays as it is.',
          fields: (field) => ({
            id: field.id({ required: true, description: webhookIdDescription }),
            url: field.string({ description: urlDescription }),
            types: field.field({ type: [EventTypeType], description: `${typesDescription} null means all.` }),
            environments: field.field({
              type: [EventEnvironmentType],
              description: `${environmentsDescription} null means all.`,
            }),
            description: field.string({ description: `${descriptionDescription} null removes it.` }),
            enabled: field.boolean({ description: 'Whether events are sent.' }),
          }),
        }),
      }),
    },
    resolve: async (_, { input: { id, ...changes } }, context) => {
      context.caller.require('admin');
      return { webhook: await updateWebhook(context, requireWebhookNumber(id), changes) };
    },
  }),
);

const RotateWebhookSecretPayload = builder.objectRef<IssuedWebhook>('RotateWebhookSecretPayload').implement({
  description: 'The webhook with its new secret.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: WebhookType, description: 'The webhook.' }),
    secret: t.exposeString('secret', { description: 'The new secret. Shown only here.' }),
  }),
});

builder.mutationField('rotateWebhookSecret', (t) =>
  t.field({
    type: RotateWebhookSecretPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The webhook with its new secret, or an error.' } },
    description:
      'Replaces the secret of a webhook. If several rotations replace the same secret at the same time, exactly one succeeds, and the ' +
      'others are NotFound. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The webhook.',
        type: builder.inputType('RotateWebhookSecretInput', {
          description: 'The webhook whose secret is replaced, and how long the replaced one signs too.',
          fields: (field) => ({
            id: field.id({ required: true, description: webhookIdDescription }),
            overlapSeconds: field.int({
              defaultValue: 0,
              description:
                `How long deliveries have two signatures, one by each secret, in seconds: 0 to ${maxOverlapSeconds}. A secret that was ` +
                'replaced earlier no longer signs.',
            }),
          }),
        }),
      }),
    },
    resolve: (_, { input }, context) => {
      context.caller.require('admin');
      return rotateWebhookSecret(context, requireWebhookNumber(input.id), input.overlapSeconds ?? 0);
    },
  }),
);

const DeleteWebhookPayload = builder.objectRef<{ deletedId: string }>('DeleteWebhookPayload').implement({
  description: 'The webhook was deleted.',
  fields: (t) => ({ deletedId: t.exposeID('deletedId', { description: 'The ID that it had.' }) }),
});

builder.mutationField('deleteWebhook', (t) =>
  t.field({
    type: DeleteWebhookPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'That the webhook was deleted, or an error.' } },
    description: 'Deletes a webhook with its deliveries: nothing is sent to it any longer. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The webhook.',
        type: builder.inputType('DeleteWebhookInput', {
          description: 'The webhook to delete.',
          fields: (field) => ({ id: field.id({ required: true, description: webhookIdDescription }) }),
        }),
      }),
    },
    resolve: async (_, { input: { id } }, context) => {
      context.caller.require('admin');
      await deleteWebhook(context, requireWebhookNumber(id));
      return { deletedId: id };
    },
  }),
);

const SendTestEventPayload = builder.objectRef<{ delivery: WebhookDelivery }>('SendTestEventPayload').implement({
  description: 'The delivery of the test event.',
  fields: (t) => ({
    delivery: t.expose('delivery', {
      type: WebhookDeliveryType,
      description: 'The delivery, which is pending. Look it up by `node` a second later to see what became of it.',
    }),
  }),
});

builder.mutationField('sendTestEvent', (t) =>
  t.field({
    type: SendTestEventPayload,
    nullable: true,
    errors: { types: [NotFound], union: { description: 'The delivery of the test event, or an error.' } },
    description:
      'Sends an event of the type `webhook.test` to a webhook, which is not in the audit log. A webhook that is disabled is ' +
      'InvalidInput. Requires the scope admin.',
    args: {
      input: t.arg({
        required: true,
        description: 'The webhook.',
        type: builder.inputType('SendTestEventInput', {
          description: 'The webhook to try out.',
          fields: (field) => ({ id: field.id({ required: true, description: webhookIdDescription }) }),
        }),
      }),
    },
    resolve: async (_, { input }, context) => {
      context.caller.require('admin');
      return { delivery: await sendTestEvent(context, requireWebhookNumber(input.id)) };
    },
  }),
);

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
