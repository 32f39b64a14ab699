import { mappingEntries } from '../domain/mapping-entries.ts';
import type { Failure } from '../http/problem.ts';

/** The members of a request or of an operation's input, by name; a member that is absent is left out. */
export type Members = Readonly<Record<string, unknown>>;

/** The members that creating and updating have in common, and their GraphQL fields. */
export const shared = { name: 'name', mapping: 'mapping', properties: 'properties' } as const;

/** Creates a function that builds the input of an operation: the listed members that are present, under their GraphQL names. */
export function pick(fields: Readonly<Record<string, string>>): (members: Members) => Members {
  const pairs = Object.entries(fields);
  return (members) => {
    const input: Record<string, unknown> = {};
    for (const [member, field] of pairs) {
      if (Object.hasOwn(members, member)) input[field] = member === 'mapping' ? mappingEntries(members[member]) : members[member];
    }
    return input;
  };
}

/** The legacy names of fields that GraphQL names differently. */
const legacyNames: Readonly<Record<string, string>> = { providedId: 'user_group_id', currentToken: 'current_token' };

const environmentNames: Readonly<Record<string, string>> = { CUSTOMER: 'Customer', TESTING: 'Testing' };

/** An environment tag as the legacy API writes it; `null` means untagged. */
export function environmentName(tag: unknown): string | null {
  return environmentNames[String(tag)] ?? null;
}

/** A failure whose issue paths use the legacy member names, and schema ids for mapping entries. */
export function toLegacyFailure(failure: Failure, { mapping }: Members): Failure {
  const { code, message, allow, retryAfterSeconds, issues = [] } = failure;
  const namesEntry = issues.some(({ path: [first, index] }) => first === 'mapping' && index !== undefined);
  const schemaIds = namesEntry && typeof mapping === 'object' && mapping !== null ? Object.keys(mapping) : [];
  const renamed = issues.map((issue) => ({ ...issue, path: legacyPath(issue.path, schemaIds) }));
  return { code, message, allow, retryAfterSeconds, issues: renamed };
}

function legacyPath([first, ...rest]: readonly (string | number)[], schemaIds: readonly string[]): string[] {
  if (first === undefined) return [];
  if (first === 'by') return legacyPath(rest, schemaIds);
  const names = first === 'mapping' ? rest.slice(0, 1).map((index) => schemaIds[Number(index)] ?? index) : rest;
  return [legacyNames[first] ?? first, ...names].map(String);
}
