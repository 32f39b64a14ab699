import { recordAttempt } from '../../src/webhooks/deliver.ts';
import type { TestDatabase } from './database.ts';
import type { TestGateway } from './gateway.ts';

const failure = '... on Error { code message } ... on InvalidInput { issues { path message } }';
const fields =
  'id number url types environments description status disabledReason failingSince lastDeliveryAt previousSecretEndsAt createdAt';
const delivery = 'id eventId type body status attempts nextAttemptAt lastAttemptAt responseStatus responseBody error createdAt';

const mutation = (field: string, selected: string): string => {
  const name = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
  return `mutation ($input: ${name}Input!) { result: ${field}(input: $input) { ... on ${name}Payload { ${selected} } ${failure} } }`;
};

/** Documents of the operations on webhooks; that of a mutation has its result as `result`. */
export const operations = {
  list: `query ($first: Int, $after: String) { webhooks(first: $first, after: $after) {
    totalCount nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`,
  deliveries: `query ($webhook: ID!, $status: WebhookDeliveryStatus, $first: Int, $after: String) {
    webhookDeliveries(webhook: $webhook, status: $status, first: $first, after: $after) {
      nodes { ${delivery} } pageInfo { hasNextPage endCursor } } }`,
  create: mutation('createWebhook', `secret webhook { ${fields} }`),
  update: mutation('updateWebhook', `webhook { ${fields} }`),
  rotate: mutation('rotateWebhookSecret', `secret webhook { ${fields} }`),
  delete: mutation('deleteWebhook', 'deletedId'),
  test: mutation('sendTestEvent', `delivery { ${delivery} }`),
  redeliver: `mutation ($webhook: ID!, $input: RedeliverEventsInput!) { result: redeliverEvents(webhook: $webhook, input: $input) {
    ... on RedeliverEventsPayload { deliveries { ${delivery} } } ${failure} } }`,
};

/** An operation that has a result. */
export type Operation = Exclude<keyof typeof operations, 'list' | 'deliveries'>;

/** The result of a mutation. @throws Error for errors that are none. */
export async function sendAs(gateway: TestGateway, token: string, operation: Operation, variables: Record<string, unknown>) {
  const { json } = await gateway.graphql(operations[operation], variables, { token });
  if (json.errors) throw new Error(JSON.stringify(json.errors));
  return json.data.result;
}

/** Creates a webhook; returns the result. */
export const createWebhook = (gateway: TestGateway, token: string, input: object = {}) =>
  sendAs(gateway, token, 'create', { input: { url: 'https://hooks.invalid/', ...input } });

/** Has the endpoint of the webhook with this number respond with 410, which disables the webhook. */
export async function respondGone({ prisma, sql }: TestDatabase, number: number): Promise<void> {
  const webhook = await prisma.webhook.findUniqueOrThrow({ where: { id: number } });
  const data = { webhookId: number, eventId: 'gone', type: 'webhook.test', body: '{}', nextAttemptAt: new Date('2100-01-01') };
  await recordAttempt(sql, webhook, await prisma.webhookDelivery.create({ data }), { status: 410 });
}
