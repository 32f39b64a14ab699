import type { Database } from '../../database/client.ts';
import { names, type ParameterColumn } from '../../database/columns.ts';
import type { ActorKind, EnvironmentTag, EventEnvironment, Prisma } from '../../generated/prisma/client.ts';

/** Who makes a change, and by which request. */
export interface Author {
  readonly kind: ActorKind;
  /** The name of the API token, or of the operating system's user: 1 to 255 characters. */
  readonly name: string;
  /** The API token that the change is made with; none for a command and the gateway itself. */
  readonly apiTokenId: number | null;
  /** The id of the request: at most 128 characters. */
  readonly requestId: string | null;
}

/** A change with its author, whom the audit log names. */
export interface Authored {
  readonly author: Author;
}

/** An author as parameters of a statement, in the order of {@link authorLists}. */
export const authorColumns = [
  { sql: 'actor_kind', type: 'actor_kind' },
  { sql: 'actor_name', type: 'text' },
  { sql: 'actor_api_token_id', type: 'int' },
  { sql: 'request_id', type: 'text' },
] as const satisfies readonly ParameterColumn[];

/** The authors of changes, a list for each of {@link authorColumns}. */
export function authorLists(changes: readonly Authored[]): unknown[][] {
  return [
    changes.map(({ author }) => author.kind),
    changes.map(({ author }) => author.name),
    changes.map(({ author }) => author.apiTokenId),
    changes.map(({ author }) => author.requestId),
  ];
}

/** The authors' columns at a row whose author is this element of the lists that begin with a parameter. */
export const authorAt = (firstParameter: number, position: string): string =>
  authorColumns.map(({ type }, index) => `($${firstParameter + index}::${type}[])[${position}]`).join(', ');

/** The authors' columns of a table of a statement. */
export const authorOf = (table: string): string => authorColumns.map(({ sql }) => `${table}.${sql}`).join(', ');

/** What an event about a user group is made from, as SQL. */
export interface GroupEvent {
  readonly type: string;
  /** The table, or its alias, with `team_id`, `provided_id` and `environment_tag` as they are after the change. */
  readonly table: string;
  /** The values of {@link authorColumns}. */
  readonly author: string;
  /** The changes, as JSON. */
  readonly changes: string;
}

/** What an event is made from: the values of its columns, as SQL. */
export interface EventInsert extends Omit<GroupEvent, 'table'> {
  readonly environment: string;
  /** The columns that say what it is about. */
  readonly about?: Readonly<Record<string, string>>;
}

/** The beginning of a data-modifying `with` query that records events in the statement that changes rows, which follow. */
export const insertEvents = ({ type, environment, about = {}, changes, author }: EventInsert): string => `
    insert into event (type, environment, ${[...Object.keys(about), 'changes', names(authorColumns)].join(', ')})
    select ${[`'${type}'`, environment, ...Object.values(about), changes, author].join(', ')}`;

/**
 * {@link insertEvents} about user groups. Numbers are drawn after the group's row is locked, so that of two events about one
 * group the later one has the greater number.
 */
export const insertGroupEvents = ({ table, ...event }: GroupEvent): string =>
  insertEvents({
    ...event,
    environment: eventEnvironment(`${table}.environment_tag`),
    about: { team_id: `${table}.team_id`, provided_id: `${table}.provided_id` },
  });

/** The environment of an event about a group, or an API token, with this tag. */
export const eventEnvironment = (tag: string): string => `coalesce(${tag}::text, 'Untagged')::event_environment`;

/** The same outside of statements. */
export const eventEnvironmentOf = (tag: EnvironmentTag | null): EventEnvironment => tag ?? 'Untagged';

/** The changes of a secret: that it changed, and nothing of it. */
export const secretChange = (field: string): string => `{"${field}":{"from":null,"to":null}}`;

/** The most bytes of a member's value, as JSON text, that an event has. Of a larger one it has the length and the SHA-256. */
export const maxEventValueBytes = 4_096;

/** The members whose value has a text with this condition, as SQL of a JSON text. @param shown what is shown of the value. */
const members = (text: string, condition: string, shown = text): string =>
  `'{' || coalesce(string_agg(to_json(key)::text || ':' || ${shown}, ',') filter (where octet_length(${text}) ${condition}), '') || '}'`;

const digest = (text: string): string =>
  `'{"bytes":' || octet_length(${text}) || ',"sha256":"' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') || '"}'`;

/**
 * The differences between two JSON objects as SQL: of the members that differ the text `"field":{"from":…,"to":…}`, else null.
 * Members whose value has more than {@link maxEventValueBytes} are in `"omitted":{"from":…,"to":…}` instead, which is there only
 * if there are any: within `from` and `to`, what stands for a value could be a value itself.
 */
export function objectChange(field: string, before: string, after: string): string {
  const side = (whole: string, text: string) =>
    `case when (${whole}) is null then 'null' else ${members(text, `<= ${maxEventValueBytes}`)} end`;
  const omitted = (text: string) => members(text, `> ${maxEventValueBytes}`, digest(text));
  return `(
      select '"${field}":{"from":' || ${side(before, 'old_text')} || ',"to":' || ${side(after, 'new_text')}
        || case when greatest(max(octet_length(old_text)), max(octet_length(new_text))) > ${maxEventValueBytes}
          then ',"omitted":{"from":' || ${omitted('old_text')} || ',"to":' || ${omitted('new_text')} || '}' else '' end || '}'
      from (
        select key, old.value::text as old_text, new.value::text as new_text
        from json_each(${before}) as old full join json_each(${after}) as new using (key)
        where old.value::text is distinct from new.value::text and old.value::jsonb is distinct from new.value::jsonb
      ) as differing
      having count(*) > 0 or (${before}) is null or (${after}) is null
    )`;
}

/** The change of a text as SQL: `"field":{"from":…,"to":…}`. */
export const textChange = (field: string, before: string, after: string): string =>
  `'"${field}":{"from":' || ${jsonText(before)} || ',"to":' || ${jsonText(after)} || '}'`;

const jsonText = (text: string): string => `coalesce(to_json((${text})::text)::text, 'null')`;

/** An event about a group that was recorded, as far as its size depends on it. */
export interface RecordedEvent extends Authored {
  readonly providedId: string;
  /** The bytes of its changes; 0 for those that are always the same. */
  readonly changesBytes: number;
}

/** Receives each event about a group that a request has recorded. */
export type OnRecorded = (event: RecordedEvent) => void;

/** An event that no hot statement records. */
export interface EventDraft extends Authored {
  readonly type: string;
  /** The environment that decides who may read it; `None` for admin alone. */
  readonly environment: EventEnvironment;
  /** The API token that it is about. */
  readonly subjectApiTokenId?: number | undefined;
  readonly changes?: Prisma.InputJsonObject | undefined;
}

/** Records an event, in a transaction if `query` is one's. */
export async function insertEvent(
  { query }: Pick<Database, 'query'>,
  event: Omit<EventDraft, 'subjectApiTokenId'>,
): Promise<void> {
  const { author, changes } = event;
  await query('insert-event', insertOne, [
    event.type,
    event.environment,
    changes === undefined ? null : JSON.stringify(changes),
    author.kind,
    author.name,
    author.apiTokenId,
    author.requestId,
  ]);
}

const insertOne = `
  insert into event (type, environment, changes, ${names(authorColumns)})
  values ($1, $2::event_environment, $3::json, $4::actor_kind, $5, $6::int, $7)`;

/**
 * Removes the event of an import, if it has one, in a transaction if `query` is one's.
 *
 * @param importId the id of the import.
 * @returns when the import started: what the event says, or the time of this transaction.
 */
export async function removeImportEvent({ query }: Pick<Database, 'query'>, importId: string): Promise<string> {
  const [[startedAt] = []] = await query('remove-import-event', removeOfImport, [importId]);
  return startedAt as string;
}

/** Reads the events of a week that belong to no environment, which are few, by their index. */
const removeOfImport = `
  with removed as (
    delete from event where environment = 'None' and occurred_at > now() - interval '7 days' and type = 'user_group.imported'
      and changes #>> '{import,to}' = $1 returning changes #>> '{startedAt,to}' as started_at
  )
  select coalesce((select started_at from removed), to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** Records an event in a transaction of Prisma's. */
export async function createEvent(transaction: Pick<Prisma.TransactionClient, 'event'>, event: EventDraft): Promise<void> {
  const { author, type, environment, subjectApiTokenId, changes } = event;
  await transaction.event.createMany({
    data: {
      type,
      environment,
      subjectApiTokenId: subjectApiTokenId ?? null,
      ...(changes && { changes }),
      actorKind: author.kind,
      actorName: author.name,
      actorApiTokenId: author.apiTokenId,
      requestId: author.requestId,
    },
  });
}
