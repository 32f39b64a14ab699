import { encodeGlobalID } from '@pothos/plugin-relay';
import { type App, contextOf } from '../app.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { Event } from '../generated/prisma/client.ts';
import { isEmptyBody, unknownFields } from '../http/body.ts';
import { mediaTypes } from '../http/media-types.ts';
import { problem } from '../http/problem.ts';
import type { Handler, HttpRequest } from '../http/types.ts';
import { parseQuery } from '../json.ts';
import { eventKey, eventTypeNames, isEventType } from './events.ts';
import { type EventFeedInput, readEventFeed } from './feed.ts';

/** The methods of the route of the event feed. */
export const eventFeedMethods = ['GET'] as const;

/** The parameters, by the names of what they stand for. */
const parameters = { after: 'after', first: 'limit', types: 'types', waitSeconds: 'wait_seconds' } as const;

const names: readonly string[] = Object.values(parameters);

/**
 * Creates the handler of `GET /api/events`, the query `eventFeed` for callers without a GraphQL client:
 * `after`, `limit`, `types` (separated by commas) and `wait_seconds`.
 */
export function eventFeedHandler(app: App): Handler {
  return {
    async handle(request) {
      request.operation = 'eventFeed';
      request.caller.require('audit:read');
      const reading = readEventFeed(contextOf(app, request.caller, request.isAbandoned), inputOf(request));
      const { nodes, cursor, hasMore, waitedMs } = await reading.catch(withParameterNames);
      request.waitedMs += waitedMs;
      const body = JSON.stringify({ success: 1, events: nodes.map(memberOf), cursor, has_more: hasMore });
      return { status: 200, headers: { 'content-type': mediaTypes.json }, body };
    },
    renderError: problem,
  };
}

/** An event in the response. */
export type EventMember = ReturnType<typeof memberOf>;

const memberOf = (event: Event) => ({
  id: encodeGlobalID('Event', eventKey(event)),
  type: event.type,
  occurred_at: event.occurredAt.toISOString(),
  actor: { kind: event.actorKind, name: event.actorName, api_token_id: event.actorApiTokenId },
  request_id: event.requestId,
  team_id: event.teamId,
  provided_id: event.providedId,
  environment: event.environment,
  api_token_id: event.subjectApiTokenId,
  changes: event.changes,
});

/** @throws InvalidInput for a body, and each parameter that there is not, that is given more than once, or is not of its form. */
function inputOf({ query, body }: HttpRequest): EventFeedInput {
  const given = parseQuery(query);
  const issues: Issue[] = isEmptyBody(body)
    ? []
    : [{ path: [], message: 'The parameters are in the body; send them in the query.' }];
  issues.push(...unknownFields(given.keys(), names));
  for (const name of new Set(given.keys())) {
    if (names.includes(name) && name !== parameters.types && given.getAll(name).length > 1)
      issues.push({ path: [name], message: 'is given more than once.' });
  }
  const number = (name: string): number | undefined => {
    const text = given.get(name) ?? undefined;
    if (text !== undefined && !/^\d{1,4}$/.test(text)) issues.push({ path: [name], message: 'must be a whole number.' });
    return text === undefined ? undefined : Number(text);
  };
  const first = number(parameters.first);
  const waitSeconds = number(parameters.waitSeconds);
  const types = given.getAll(parameters.types).join().split(',');
  if (given.has(parameters.types) && !types.every(isEventType)) {
    issues.push({
      path: [parameters.types],
      message: `must be types of events, separated by commas: ${eventTypeNames.join(', ')}.`,
    });
  }
  if (issues.length > 0) throw new InvalidInput(issues);
  return {
    after: given.get(parameters.after),
    first,
    waitSeconds,
    types: given.has(parameters.types) ? types.filter(isEventType) : undefined,
  };
}

/** Throws the failure, with the names of the parameters in the paths of its issues. */
function withParameterNames(failure: unknown): never {
  if (!(failure instanceof InvalidInput)) throw failure;
  const rename = (path: Issue['path']) => path.map((name) => parameters[name as keyof typeof parameters] ?? name);
  throw new InvalidInput(failure.issues.map(({ path, message }) => ({ path: rename(path), message })));
}
