import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';
import { createWebhook } from '../support/webhooks.ts';

const networks = ['127.0.0.0/8'];
const options = { introspection: true, webhooksAllowedNetworks: networks };
let gateway: TestGateway;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  gateway = await startGateway(undefined, options);
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

test('a gateway delivers the changes that it and others make, and exports how many', async () => {
  const other = await startGateway(gateway.database, options);
  const admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  const { secret } = await createWebhook(gateway, admin, { url: receiver.url, types: ['USER_GROUP_CREATED'] });
  for (const [index, { send }] of [gateway, other].entries())
    expect((await send('GET', '/api/user', { body: { user_group_id: `group-${index}`, name: 'a' } })).status).toBe(200);
  const arrived = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.provided_id)).size === 2;
  await until(arrived, 'both have arrived');
  await other.close();
  for (const { headers, body } of receiver.received) {
    const { data } = new Webhook(secret).verify(body, headers as Record<string, string>) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ environment: 'Testing', changed: ['name'] });
    const { json } = await gateway.graphql('query ($id: ID!) { node(id: $id) { ... on UserGroup { providedId } } }', {
      id: data['id'],
    });
    expect(json.data.node).toEqual({ providedId: data['provided_id'] });
    const events = 'query ($id: ID!) { node(id: $id) { ... on Event { type } } }';
    const event = await gateway.graphql(events, { id: headers['webhook-id'] }, { token: admin });
    expect(event.json.data.node).toEqual({ type: 'USER_GROUP_CREATED' });
  }
  const { secret: reader } = await gateway.issue({ environment: null, scopes: ['metrics:read'] });
  const exported = async () => String((await gateway.send('GET', '/metrics', { token: reader })).text);
  await until(
    async () => /gateway_webhook_deliveries_total\{outcome="delivered"\} [1-9]/.test(await exported()),
    'it is counted',
  );
});
