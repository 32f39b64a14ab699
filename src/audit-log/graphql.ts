import { encodeGlobalID } from '@pothos/plugin-relay';
import { ApiTokenType } from '../api-tokens/graphql.ts';
import { GatewayError, InvalidInput } from '../errors.ts';
import type { Event } from '../generated/prisma/client.ts';
import { builder, defineNamedEnum, numberOfNode } from '../graphql/builder.ts';
import { definePages, pageArguments, pageSize } from '../graphql/connection.ts';
import { readsHeavy } from '../graphql/limits.ts';
import { defineNodeFinder } from '../graphql/nodes.ts';
import { DateTimeRangeInput } from '../graphql/scalars.ts';
import { type FieldCost, filterCost, lookUpCost, type RawVariables } from '../graphql/selection.ts';
import { selector, UserGroupByInput, UserGroupType } from '../user-groups/graphql/type.ts';
import {
  eventApiToken,
  eventKey,
  eventLimits,
  eventTypeNames,
  eventTypes,
  findEvent,
  isEventType,
  userGroupOf,
} from './events.ts';
import { type EventFeedPage, feedLimits, readEventFeed } from './feed.ts';
import { listEvents } from './list.ts';

/** A type of events. */
export const EventTypeType = defineNamedEnum('EventType', 'What happened.', eventTypeNames, (name) => eventTypes[name]);

const ActorKindType = builder.enumType('EventActorKind', {
  description: 'Who made a change.',
  values: {
    API_TOKEN: { description: 'A request with an API token.' },
    CLI: { description: 'A command.' },
    SYSTEM: {
      description: 'The gateway itself, such as on the first start; or the database, for a change that was made by hand.',
    },
  } as const,
});

/** The environment of an event. */
export const EventEnvironmentType = builder.enumType('EventEnvironment', {
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
const largeField = { heavy: 2 } satisfies FieldCost;

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
      resolve: ({ actorApiTokenId }, _, context) => eventApiToken(context, actorApiTokenId),
    }),
  }),
});

/** An entry of the audit log. */
const EventType = builder.objectRef<Event>('Event');

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
        // Not left out: a gap in the audit log would not be noticed.
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
      resolve: (event, _, context) => userGroupOf(context, event),
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
      resolve: ({ subjectApiTokenId }, _, context) => eventApiToken(context, subjectApiTokenId),
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

defineNodeFinder('Event', {
  scope: 'audit:read',
  noun: 'an event',
  find: (context, id, info) => findEvent(context, id, { withChanges: readsHeavy(info) }),
});

const EventFilterInput = builder.inputType('EventFilter', {
  description: 'Selects events. Every given condition must hold.',
  fields: (t) => ({
    types: t.field({ type: [EventTypeType], description: 'The types to choose from.' }),
    userGroup: t.field({
      type: UserGroupByInput,
      description:
        'The group that was changed. One that was deleted is found by its ID, its teamId and its provided ID. By token, the scope groups:resolve is required too.',
    }),
    apiTokenId: t.id({ description: 'The ID of an API token: changes that were made with it, and changes of it.' }),
    occurredAt: t.field({ type: DateTimeRangeInput, description: 'When the change was made.' }),
  }),
});

const notAnApiToken = { path: ['filter', 'apiTokenId'], message: 'must be the ID of an API token.' };

const EventConnection = definePages('Event', EventType, 'events');

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    nullable: true,
    extensions: { pageSize, cost: filterCost } satisfies FieldCost,
    description:
      'Lists the audit log of the environment of the API token, with scope admin of every environment, the newest event first. ' +
      'Requires the scope audit:read. The latest 20 changes: ' +
      '`{ events { nodes { occurredAt type actor { name } providedId changes } } }`. Of one group: ' +
      '`{ events(filter: { userGroup: { providedId: "acme" } }) { nodes { type changes } } }`. For the next page, pass ' +
      '`pageInfo { hasNextPage endCursor }` on as `after`, with the same filter. A filter that takes longer than 2 seconds ' +
      'results in UNAVAILABLE.',
    args: {
      ...pageArguments,
      filter: t.arg({ type: EventFilterInput, description: 'Which events to list. Defaults to all of them.' }),
    },
    resolve: (_, { filter, ...page }, context, info) => {
      context.caller.require('audit:read');
      const userGroup = filter?.userGroup && selector(filter.userGroup);
      const apiTokenId = filter?.apiTokenId == null ? undefined : numberOfNode('ApiToken', filter.apiTokenId);
      if (apiTokenId === 0) throw new InvalidInput([notAnApiToken]);
      const options = { withChanges: readsHeavy(info) };
      return listEvents(context, { ...page, filter: filter && { ...filter, userGroup, apiTokenId } }, options);
    },
  }),
);

builder.objectField(UserGroupType, 'events', (t) =>
  t.field({
    type: EventConnection,
    nullable: true,
    extensions: { pageSize, cost: () => lookUpCost } satisfies FieldCost,
    description:
      'The audit log of the group, the newest event first, as far as it is of the environment of the API token, with scope admin of ' +
      'every environment. Requires the scope audit:read.',
    args: { first: pageArguments.first, after: pageArguments.after },
    resolve: ({ teamId }, page, context, info) =>
      listEvents(context, { ...page, filter: { userGroup: { teamId } } }, { withChanges: readsHeavy(info) }),
  }),
);

const { maxFeedEvents, maxWaitSeconds } = feedLimits;

/** How many events a page of the feed has at most; an argument that is refused counts as the default. */
const feedPageSize = ({ first }: RawVariables): number =>
  typeof first === 'number' && first >= 1 && first <= maxFeedEvents ? first : maxFeedEvents;

const EventFeedType = builder.objectRef<EventFeedPage>('EventFeed').implement({
  description: 'A part of the event feed.',
  fields: (t) => ({
    nodes: t.field({
      type: [EventType],
      extensions: { isPage: true } satisfies FieldCost,
      description: 'The events, the oldest first.',
      resolve: ({ nodes }) => [...nodes],
    }),
    cursor: t.exposeString('cursor', {
      description:
        'Where the next page begins, also if this one is empty: pass it on as `after`, and store it with what you did.',
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description:
        'Whether more events may follow already: read on at once. A page may be empty then, if it was to have some types alone.',
    }),
  }),
});

builder.queryField('eventFeed', (t) =>
  t.field({
    type: EventFeedType,
    nullable: true,
    extensions: { pageSize: feedPageSize, cost: () => lookUpCost } satisfies FieldCost,
    description:
      'Every change of the environment of the API token, with scope admin of every environment, the oldest first: the events of the ' +
      'audit log in an order in which none is missed. No event ever appears behind a cursor, and those of one group are in the order ' +
      'of its changes. Requires the scope audit:read. An error with the code CURSOR_EXPIRED says that events behind the cursor are ' +
      'gone. The first page: `{ eventFeed { nodes { id type providedId } cursor hasMore } }`; the next: ' +
      '`{ eventFeed(after: "CURSOR", waitSeconds: 8) { nodes { id type providedId } cursor hasMore } }`.',
    args: {
      after: t.arg.string({
        description:
          'The cursor of the last page, or `latest` to begin with what happens from now on. By default the page begins with the oldest event that is kept.',
      }),
      first: t.arg.int({
        defaultValue: maxFeedEvents,
        description: `How many events the page has at most: 1 to ${maxFeedEvents}. It has fewer if their changes are large.`,
      }),
      types: t.arg({ type: [EventTypeType], description: 'The types to choose from. Defaults to all of them.' }),
      waitSeconds: t.arg.int({
        defaultValue: 0,
        description: `How long to wait for an event if there is none: 0 to ${maxWaitSeconds}. The response is sent as soon as there is one.`,
      }),
    },
    resolve: async (_, input, context, info) => {
      const page = await readEventFeed(context, input, { withChanges: readsHeavy(info) });
      context.http.waitedMs += page.waitedMs;
      return page;
    },
  }),
);
