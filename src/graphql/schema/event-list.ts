import { listEvents, listEventsOfGroup } from '../../domain/event-list.ts';
import { apiTokenNumberOf } from './api-token.ts';
import { builder } from './builder.ts';
import { definePages, pageArguments, pageSize } from './connection.ts';
import { DateTimeRangeInput } from './date-time-range.ts';
import { EventType, EventTypeType, readsChanges } from './event.ts';
import { type FieldCost, filterCost, isFiltered, lookUpCost } from './field-cost.ts';
import { selector, UserGroupByInput, UserGroupType } from './user-group.ts';

const EventFilterInput = builder.inputType('EventFilter', {
  description: 'Selects events. Every given condition must hold.',
  fields: (t) => ({
    types: t.field({ type: [EventTypeType], description: 'The types to choose from.' }),
    userGroup: t.field({
      type: UserGroupByInput,
      description:
        'The group that was changed. One that was deleted is found by its ID, its teamId and its provided ID; a provided ID that more than 100 deleted groups had results in INVALID_INPUT. By token, the scope groups:resolve is required too.',
    }),
    apiTokenId: t.id({ description: 'The ID of an API token: changes that were made with it, and changes of it.' }),
    occurredAt: t.field({ type: DateTimeRangeInput, description: 'When the change was made.' }),
  }),
});

const EventConnection = definePages('Event', EventType, 'events');

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    nullable: true,
    extensions: { pageSize, cost: filterCost, isSlow: isFiltered } satisfies FieldCost,
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
    resolve: (_, { filter, ...page }, { services, caller, isAbandoned }, info) => {
      const userGroup = filter?.userGroup && (selector(filter.userGroup) ?? 'no group');
      const apiTokenId = filter?.apiTokenId == null ? undefined : (apiTokenNumberOf(filter.apiTokenId) ?? 'no API token');
      const options = { withChanges: readsChanges(info) };
      return listEvents(
        services,
        caller,
        { ...page, filter: filter && { ...filter, userGroup, apiTokenId } },
        isAbandoned,
        options,
      );
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
    resolve: ({ teamId }, page, { services, caller }, info) =>
      listEventsOfGroup(services, caller, teamId, page, { withChanges: readsChanges(info) }),
  }),
);
