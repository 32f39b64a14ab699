import { eventKey } from '../audit-log/events.ts';
import type { Event, Prisma } from '../generated/prisma/client.ts';

/** The globally unique ID of an object of the API. */
export const globalId = (typename: string, id: string | number): string => Buffer.from(`${typename}:${id}`).toString('base64');

/** An event as it is sent. */
export interface DeliveryDraft {
  /** What `webhook-id` says: the ID of the event, the same in every attempt and to every endpoint. */
  readonly eventId: string;
  readonly type: string;
  /** What {@link deliveryBody} made. */
  readonly body: string;
}

/** What the body of a delivery is made of. */
export type SentEvent = Pick<
  Event,
  'type' | 'occurredAt' | 'environment' | 'teamId' | 'providedId' | 'subjectApiTokenId' | 'changes'
>;

/** How many members of an object are named; of an object in which more have changed, the name alone. */
const maxNamedMembers = 100;

/** Makes what is sent of an event of the audit log. */
export function draftDelivery(event: SentEvent & { readonly id: bigint }): DeliveryDraft {
  return { eventId: globalId('Event', eventKey(event)), type: event.type, body: deliveryBody(event) };
}

/** The body of a delivery, as JSON: what happened, to what, and the names of what changed; no values. */
export function deliveryBody(event: SentEvent): string {
  const { type, occurredAt, environment, teamId, providedId } = event;
  const data = {
    id: subjectOf(event),
    provided_id: providedId,
    team_id: teamId,
    environment,
    changed: changedNames(event),
  };
  return JSON.stringify({ type, timestamp: occurredAt.toISOString(), data });
}

/** The ID of what was changed; null for an event of the whole gateway. */
function subjectOf(event: SentEvent): string | null {
  const { teamId, subjectApiTokenId } = event;
  if (teamId !== null) return globalId('UserGroup', teamId);
  if (subjectApiTokenId !== null) return globalId('ApiToken', subjectApiTokenId);
  const webhook = asObject(asObject(event.changes)?.['webhook']);
  const number = webhook?.['to'] ?? webhook?.['from'];
  return isOfWebhook(event) && typeof number === 'number' ? globalId('Webhook', number) : null;
}

const isOfWebhook = ({ type }: SentEvent): boolean => type.startsWith('webhook.');

/** The names of the fields that changed; of an object, such as properties, those of its members. */
function changedNames(event: SentEvent): string[] {
  const changes = Object.entries(asObject(event.changes) ?? {});
  // The number says which webhook it is.
  const fields = isOfWebhook(event) ? changes.filter(([field]) => field !== 'webhook') : changes;
  return fields.flatMap(([field, change]) => {
    const { from, to, omitted } = asObject(change) ?? {};
    const sides = [from, to, asObject(omitted)?.['from'], asObject(omitted)?.['to']];
    const members = new Set(sides.flatMap((side) => Object.keys(asObject(side) ?? {})));
    if (members.size === 0 || members.size > maxNamedMembers) return [field];
    return [...members].map((member) => `${field}.${member}`);
  });
}

const asObject = (value: Prisma.JsonValue | undefined): Prisma.JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
