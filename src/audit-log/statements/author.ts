import type { Sql } from '../../database/client.ts';
import type { ActorKind, Prisma } from '../../generated/prisma/client.ts';
import type { EventType } from '../events.ts';

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

/** The gateway itself, for what it does without a request or a command. */
export const systemAuthor: Author = { kind: 'SYSTEM', name: 'user-group-gateway', apiTokenId: null, requestId: null };

/** A command. @param user the name of the operating system's user who runs it; what exceeds 255 characters is cut off. */
export function commandAuthor(user: string): Author {
  const name = [...user].slice(0, 255).join('').replaceAll('\0', '') || 'unknown';
  return { kind: 'CLI', name, apiTokenId: null, requestId: null };
}

/**
 * The part `actor` of a `with` clause, which tells the triggers who makes the change. PostgreSQL executes it only if the
 * statement refers to it: `from actor`. The parameter is an {@link Author} as JSON.
 */
export const actor = (parameter: number): string =>
  `actor as materialized (select set_config('gateway.actor', $${parameter}, true))`;

/** The part `silent` of a `with` clause: the triggers ignore a statement that refers to it. */
export const silent = `silent as materialized (select set_config('gateway.silent', 'on', true))`;

/** Records an event of the whole gateway that is no change of a row. */
export async function recordEvent(
  sql: Sql,
  author: Author,
  type: Extract<EventType, 'user_group.imported' | 'encryption_key.rotated'>,
  changes: Prisma.InputJsonObject,
): Promise<void> {
  const { kind, name, apiTokenId, requestId } = author;
  await sql('record-event', insertEvent, [type, JSON.stringify(changes), kind, name, apiTokenId, requestId]);
}

const insertEvent = `
  insert into event (type, environment, changes, actor_kind, actor_name, actor_api_token_id, request_id)
  values ($1, 'None', $2::json, $3::actor_kind, $4, $5::int, $6)`;
