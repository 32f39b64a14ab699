import { parseJson } from '../http/json.ts';
import type { Failure } from '../http/problem.ts';

/** What the legacy API calls the things that the schema has other names for. */
const legacyNames: Readonly<Record<string, string>> = { providedId: 'user_group_id', currentToken: 'current_token' };

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

/** The members of a query string; `mapping` and `properties` are JSON in it. @throws GatewayError `MALFORMED_JSON`. */
export function queryMembers(query: string): Record<string, unknown> {
  const members: Record<string, unknown> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    // Twice the same: a list, which no member may be.
    if (Object.hasOwn(members, name)) members[name] = [members[name], value];
    else members[name] = name === 'mapping' || name === 'properties' ? parseJson(value, `The parameter ${name}`) : value;
  }
  return members;
}

/** A failure whose issues bear the legacy API's names: of members, and of mapping entries by their schema id. */
export function inLegacyTerms({ code, message, issues = [] }: Failure, members: Readonly<Record<string, unknown>>): Failure {
  const schemaIds = Object.keys(members['mapping'] ?? {});
  return { code, message, issues: issues.map((issue) => ({ ...issue, path: legacyPath(issue.path, schemaIds) })) };
}

function legacyPath([first, ...rest]: readonly (string | number)[], schemaIds: readonly string[]): (string | number)[] {
  if (first === undefined) return [];
  if (first === 'by') return legacyPath(rest, schemaIds);
  if (first === 'mapping' && rest[0] !== undefined) return ['mapping', schemaIds[Number(rest[0])] ?? rest[0]];
  return [legacyNames[first] ?? first, ...rest];
}
