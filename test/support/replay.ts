import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../src/database/client.ts';
import type { Event } from '../../src/generated/prisma/client.ts';

/** A group as far as the audit log has it. */
export interface Replayed {
  readonly providedId: string | null;
  environmentTag: string | null;
  name: unknown;
  properties: unknown;
  mapping: unknown;
}

interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * The groups that events about groups lead to, in the order of their numbers.
 *
 * @throws Error when a change does not begin at what the events before it led to, or changes nothing.
 */
export function replay(events: readonly Event[]): Map<number, Replayed> {
  const groups = new Map<number, Replayed>();
  for (const event of [...events].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { type, teamId, providedId } = event;
    const fault = (text: string) => new Error(`${text}: event ${event.id}, ${type}, ${JSON.stringify(event.changes)}`);
    if (teamId === null) throw fault('no group');
    const environmentTag = event.environment === 'Untagged' ? null : event.environment;
    if (type === 'user_group.created') {
      if (groups.has(teamId)) throw fault('created twice');
      groups.set(teamId, { providedId, environmentTag, name: null, properties: null, mapping: {} });
    }
    const group = groups.get(teamId);
    if (!group || group.providedId !== providedId) throw fault('another group than was created');
    const changes = Object.entries((event.changes ?? {}) as unknown as Record<string, Change>);
    for (const [field, { from, to }] of changes) {
      if (type === 'user_group.token_rotated') {
        if (field !== 'token' || from !== null || to !== null) throw fault('more than that the token changed');
      } else if (type === 'user_group.environment_changed') {
        if (from === to || from !== upper(group.environmentTag) || to !== upper(environmentTag)) throw fault('no change');
        group.environmentTag = environmentTag;
      } else {
        const key = field as 'name' | 'properties' | 'mapping';
        group[key] = applied(group[key], { from, to }, type === 'user_group.created', fault);
      }
    }
    if (group.environmentTag !== environmentTag) throw fault('another environment');
    if (type === 'user_group.deleted') groups.delete(teamId);
    else if (changes.length === 0) throw fault('no changes');
  }
  return groups;
}

/** The groups that are stored, in the same form. */
export async function storedGroups({ prisma }: Pick<Database, 'prisma'>): Promise<Map<number, Replayed>> {
  const groups = await prisma.userGroup.findMany();
  return new Map(
    groups.map(({ teamId, providedId, environmentTag, name, properties, mapping }) => [
      teamId,
      { providedId, environmentTag, name, properties, mapping },
    ]),
  );
}

const upper = (tag: string | null): string | null => tag?.toUpperCase() ?? null;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function applied(current: unknown, { from, to }: Change, isNew: boolean, fault: (text: string) => Error): unknown {
  if (isDeepStrictEqual(from, to)) throw fault('no change');
  if (!isObject(from) || !isObject(to)) {
    if (!isNew && !isDeepStrictEqual(from, current)) throw fault(`does not begin at ${JSON.stringify(current)}`);
    return to;
  }
  const result = { ...(current as Record<string, unknown>) };
  for (const member of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (isDeepStrictEqual(from[member], to[member])) throw fault(`${member} did not change`);
    if (!isDeepStrictEqual(result[member], from[member])) throw fault(`${member} does not begin at ${JSON.stringify(current)}`);
    if (Object.hasOwn(to, member)) result[member] = to[member];
    else delete result[member];
  }
  return result;
}
