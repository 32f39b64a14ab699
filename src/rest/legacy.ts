import { parseJson, parseQuery } from '../http/json.ts';
import type { Failure } from '../http/problem.ts';

/** The members of a request or of an operation's input, by name; a member that is absent is left out. */
export type Members = Readonly<Record<string, unknown>>;

/** The members that creating and updating have in common, and the fields that they are. */
export const shared = { name: 'name', mapping: 'mapping', properties: 'properties' } as const;

/** Makes an operation's input: of the members that are listed those that are there, under the fields' names. */
export function pick(fields: Readonly<Record<string, string>>): (members: Members) => Members {
  const pairs = Object.entries(fields);
  return (members) => {
    const input: Record<string, unknown> = {};
    for (const [member, field] of pairs) if (Object.hasOwn(members, member)) input[field] = members[member];
    return input;
  };
}

/** What the legacy API calls the things that the schema has other names for. */
const legacyNames: Readonly<Record<string, string>> = { providedId: 'user_group_id', currentToken: 'current_token' };

/** The failure of a request without a member that it must have. */
export function missing(member: string): Failure {
  return { code: 'INVALID_INPUT', message: '', issues: [{ path: [member], message: 'is required.' }] };
}

const environmentNames: Readonly<Record<string, string>> = { CUSTOMER: 'Customer', TESTING: 'Testing' };

/** An environment tag as the legacy API writes it; `null` means untagged. */
export function environmentName(tag: unknown): string | null {
  return environmentNames[String(tag)] ?? null;
}

/**
 * A mapping as the schema takes it, a list of entries, from the object that the legacy API takes. What is absent stays
 * absent, and each side's value is left as it is for the schema to judge; or a failure when it is no object at all.
 */
export function mappingEntries(mapping: unknown): { mapping?: unknown } | Failure {
  if (mapping == null) return mapping === undefined ? {} : { mapping };
  if (typeof mapping === 'object' && !Array.isArray(mapping)) {
    return { mapping: Object.entries(mapping).map(([schemaId, dataSource]) => ({ schemaId, dataSource })) };
  }
  const issues = [{ path: ['mapping'], message: 'must be an object of schema id to data source, both strings.' }];
  return { code: 'INVALID_INPUT', message: '', issues };
}

/**
 * The members of a query string; `mapping` and `properties` are JSON in it.
 *
 * @throws GatewayError `MALFORMED_JSON`, also when what is percent-encoded is not UTF-8.
 */
export function queryMembers(query: string): Members {
  const members: Record<string, unknown> = Object.create(null);
  for (const [name, value] of parseQuery(query)) {
    // Twice the same: a list, which no member may be.
    if (Object.hasOwn(members, name)) members[name] = [members[name], value];
    else members[name] = name === 'mapping' || name === 'properties' ? parseJson(value, `The parameter ${name}`) : value;
  }
  return members;
}

/** A failure whose issues bear the legacy API's names: of members, and of mapping entries by their schema id. */
export function inLegacyTerms({ code, message, issues = [] }: Failure, members: Members): Failure {
  const schemaIds = Object.keys(members['mapping'] ?? {});
  return { code, message, issues: issues.map((issue) => ({ ...issue, path: legacyPath(issue.path, schemaIds) })) };
}

function legacyPath([first, ...rest]: readonly (string | number)[], schemaIds: readonly string[]): (string | number)[] {
  if (first === undefined) return [];
  if (first === 'by') return legacyPath(rest, schemaIds);
  if (first === 'mapping' && rest[0] !== undefined) return ['mapping', schemaIds[Number(rest[0])] ?? rest[0]];
  return [legacyNames[first] ?? first, ...rest];
}
