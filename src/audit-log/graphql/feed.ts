import { InvalidInput } from '../../errors.ts';
import { builder } from '../../graphql/builder.ts';
import { heavyCost } from '../../graphql/limits.ts';
import { type FieldCost, lookUpCost, type RawVariables } from '../../graphql/selection.ts';
import { type EventFeedPage, feedLimits, readEventFeed } from '../feed.ts';
import { EventType, EventTypeType, readsChanges } from './events.ts';

const { maxFeedEvents, maxWaitSeconds } = feedLimits;

/** How many events a page has at most; an argument that is refused counts as the default. */
const pageSize = ({ first }: RawVariables): number =>
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

const mustNotWait = {
  path: ['waitSeconds'],
  message: `must be 0 in an operation that costs more than ${heavyCost} and has other fields. Send eventFeed alone.`,
};

builder.queryField('eventFeed', (t) =>
  t.field({
    type: EventFeedType,
    nullable: true,
    extensions: { pageSize, cost: () => lookUpCost } satisfies FieldCost,
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
        description:
          `How long to wait for an event if there is none: 0 to ${maxWaitSeconds}. The response is sent as soon as there is one. ` +
          `An operation that costs more than ${heavyCost} and waits can have no other field.`,
      }),
    },
    resolve: (_, input, { services, caller, isAbandoned, pause }, info) => {
      if (input.waitSeconds && !pause) throw new InvalidInput([mustNotWait]);
      return readEventFeed(services, caller, input, isAbandoned, { withChanges: readsChanges(info), pause });
    },
  }),
);
