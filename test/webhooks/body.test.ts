import { encodeGlobalID } from '@pothos/plugin-relay';
import { expect, test } from 'vitest';
import { draftDelivery } from '../../src/webhooks/deliver.ts';

const event = {
  id: 42n,
  type: 'user_group.updated',
  occurredAt: new Date('2026-01-31T12:00:00.000Z'),
  environment: 'Customer',
  teamId: 7,
  providedId: 'acme',
  subjectApiTokenId: null,
  changes: { name: { from: 'a', to: 'b' } },
} as const;

type Given = Partial<Parameters<typeof draftDelivery>[0]>;

/** The data of the body of an event. */
const dataOf = (given: Given) => JSON.parse(draftDelivery({ ...event, ...given }).body).data;

const changedOf = (changes: Given['changes']) => dataOf({ changes: changes ?? null }).changed;

test('a body says what happened, and to what', () => {
  expect(draftDelivery(event)).toEqual({
    eventId: encodeGlobalID('Event', '1769860800000.42'),
    type: 'user_group.updated',
    body:
      '{"type":"user_group.updated","timestamp":"2026-01-31T12:00:00.000Z","data":{"id":"VXNlckdyb3VwOjc=","provided_id":"acme",' +
      '"team_id":7,"environment":"Customer","changed":["name"]}}',
  });
});

test('the subject is a group, an API token or a webhook, or there is none', () => {
  const none = { teamId: null, providedId: null, environment: 'None', changes: null } as const;
  expect(dataOf({ ...none, subjectApiTokenId: 3 }).id).toBe(encodeGlobalID('ApiToken', 3));
  for (const webhook of [
    { from: null, to: 5 },
    { from: 5, to: 5 },
    { from: 5, to: null },
  ]) {
    const data = dataOf({ ...none, type: 'webhook.updated', changes: { webhook, url: { from: 'a', to: 'b' } } });
    expect(data).toMatchObject({ id: encodeGlobalID('Webhook', 5), changed: ['url'] });
  }
  expect(dataOf({ ...none, type: 'signing_key.rotated', changes: { webhook: { from: 1, to: 2 } } })).toEqual({
    id: null,
    provided_id: null,
    team_id: null,
    environment: 'None',
    changed: ['webhook'],
  });
});

test('of properties and mappings each member is named, and no value', () => {
  const large = { bytes: 5_000, sha256: 'aa' };
  const changes = {
    properties: {
      from: { plan: 'secret', old: 1 },
      to: { plan: 'secret too', new: { deep: 'secret' } },
      omitted: { from: {}, to: { large } },
    },
    mapping: { from: null, to: { eu: 'secret' } },
    suspendedAt: { from: null, to: 'secret' },
    scopes: { from: null, to: ['secret'] },
  };
  expect(changedOf(changes)).toEqual([
    'properties.plan',
    'properties.old',
    'properties.new',
    'properties.large',
    'mapping.eu',
    'suspendedAt',
    'scopes',
  ]);
  expect(draftDelivery({ ...event, changes }).body).not.toContain('secret');
  expect(changedOf({ properties: { from: null, to: {} } })).toEqual(['properties']);
  expect(changedOf(null)).toEqual([]);
});
