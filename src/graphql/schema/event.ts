import { encodeGlobalID } from '@pothos/plugin-relay';
import { GatewayError } from '../../domain/errors.ts';
import { eventLimits } from '../../domain/event-limits.ts';
import { eventTypeNames, eventTypes, isEventType } from '../../domain/event-types.ts';
import { eventApiToken, eventKey, userGroupOf } from '../../domain/events.ts';
import type { Event } from '../../generated/prisma/client.ts';
import { ApiTokenType } from './api-token.ts';
import { builder } from './builder.ts';
import { type FieldCost, lookUpCost } from './field-cost.ts';
import { defineNamedEnum } from './named-enum.ts';
import { isAnySelected } from './selected-fields.ts';
import type { SelectionInfo } from './selection-size.ts';
import { readsJson, UserGroupType } from './user-group.ts';

/** A type of events. */
export const EventTypeType = defineNamedEnum('EventType', 'What happened.', eventTypeNames, (name) => eventTypes[name]);

const ActorKindType = builder.enumType('EventActorKind', {
  description: 'Who made a change.',
  values: {
    API_TOKEN: { description: 'A request with an API token.' },
    CLI: { description: 'A command.' },
    SYSTEM: { description: 'The gateway itself, such as on the first start.' },
  } as const,
});

const EventEnvironmentType = builder.enumType('EventEnvironment', {
  description: 'The environment that an event belongs to.',
  values: {
    CUSTOMER: { value: 'Customer', description: 'Groups of real customers.' },
    TESTING: { value: 'Testing', description: 'Groups for testing.' },
    UNTAGGED: { value: 'Untagged', description: 'Groups and API tokens without an environment.' },
    NONE: { value: 'None', description: 'No environment: the event is about the whole gateway, such as one of keys.' },
  } as const,
});

/** A row of its own costs a look-up. */
const lookUp = { cost: () => lookUpCost } satisfies FieldCost;

/** Up to some hundred KiB. */
const largeField = { cost: () => 100 } satisfies FieldCost;

const EventActorType = builder.objectRef<Event>('EventActor').implement({
  description: 'Who made a change.',
  fields: (t) => ({
    kind: t.expose('actorKind', { type: ActorKindType, description: 'Whether it was a request, a command or the gateway.' }),
    name: t.exposeString('actorName', {
      description: 'The name of the API token, or of the operating system’s user who ran the command.',
    }),
    apiToken: t.field({
      type: ApiTokenType,
      nullable: true,
      extensions: lookUp,
      description:
        'The API token that the request was made with; null for others, and for one of an environment that the caller has no access to.',
      resolve: ({ actorApiTokenId }, _, { services, caller }) => eventApiToken(services, caller, actorApiTokenId),
    }),
  }),
});

/** An entry of the audit log. */
export const EventType = builder.objectRef<Event>('Event');

builder.node(EventType, {
  description: 'An entry of the audit log: a change that was made.',
  id: { resolve: eventKey, description: 'The globally unique ID of the event.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'actorKind' in value,
  fields: (t) => ({
    type: t.field({
      type: EventTypeType,
      description: 'What happened.',
      resolve: ({ type }) => {
        if (isEventType(type)) return type;
        const message = `A newer version of the gateway recorded an event of the type ${type}. Try again when every instance is updated.`;
        throw new GatewayError('UNAVAILABLE', message);
      },
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When the change was made.' }),
    actor: t.field({ type: EventActorType, description: 'Who made the change.', resolve: (event) => event }),
    requestId: t.exposeString('requestId', {
      nullable: true,
      description: 'The ID of the request that made the change, as in its header X-Request-Id; null for a command.',
    }),
    userGroup: t.field({
      type: UserGroupType,
      nullable: true,
      extensions: lookUp,
      description:
        'The group that was changed, as it is now; null if it was deleted, the caller has no access to it, or the event is about ' +
        'something else. Its token requires the scope groups:read or groups:write.',
      resolve: (event, _, { services, caller }, info) => userGroupOf(services, caller, event, { withJson: readsJson(info) }),
    }),
    userGroupId: t.id({
      nullable: true,
      description: 'The globally unique ID of that group, also once it is deleted.',
      resolve: ({ teamId }) => (teamId === null ? null : encodeGlobalID('UserGroup', teamId)),
    }),
    providedId: t.exposeString('providedId', {
      nullable: true,
      description: 'The provided ID of that group; null if the event is about something else.',
    }),
    environment: t.expose('environment', {
      type: EventEnvironmentType,
      description: 'The environment of the group or the API token after the change.',
    }),
    apiToken: t.field({
      type: ApiTokenType,
      nullable: true,
      extensions: lookUp,
      description: 'The API token that was changed; null if the event is about something else.',
      resolve: ({ subjectApiTokenId }, _, { services, caller }) => eventApiToken(services, caller, subjectApiTokenId),
    }),
    changes: t.expose('changes', {
      type: 'JSON',
      nullable: true,
      extensions: largeField,
      description:
        'What changed: `{ field: { from, to } }`. Of properties and mapping only the members that differ; a member that one side ' +
        `does not have is missing there. Members whose value has more than ${eventLimits.maxEventValueBytes / 1_024} KiB are in ` +
        '`omitted: { from, to }` next to these, each with `bytes` and `sha256` of its JSON. Of a secret both are null: that it changed.',
    }),
  }),
});

const changesField: ReadonlySet<string> = new Set(['changes']);

/** Whether the changes of an event are selected anywhere below the field that is resolved: otherwise they need not be read. */
export const readsChanges = (info: SelectionInfo): boolean => isAnySelected(changesField, info);
