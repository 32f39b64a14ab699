import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { boundIssues, describeIssues, type Issue, maxIssues, shorten } from './errors.ts';
import { mappingEntries } from './mapping-entries.ts';
import { mayBeUserGroupToken, redactTokens, tokenPrefixes } from './tokens.ts';
import { getOrCreateIssues } from './user-group-input.ts';

/** The fields of a line, in the order in which files have them. */
export const importFields = ['user_group_id', 'name', 'token', 'mapping', 'properties', 'environment'] as const;

/**
 * The fields of a line as they were read: any may be missing, or of any type. `null` counts as missing, except as noted below.
 */
export type UncheckedLine = { readonly [Field in (typeof importFields)[number]]?: unknown };

/** A user group from a file, every rule checked that needs no database. */
export interface ImportLine {
  /** The number of the line in the file, from 1. */
  readonly line: number;
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  /** Whether it is untagged because nothing names an environment. */
  readonly isUntaggedByDefault: boolean;
  /** The token that the group keeps; without one, a new group gets a new token. */
  readonly token: string | undefined;
  readonly name: string | undefined;
  /** A JSON object as text. */
  readonly mapping: string | undefined;
  /** A JSON object as text; null for a group that has none. */
  readonly properties: string | null | undefined;
}

/** A line that was not imported, and why: one line of text without any token. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

const environments: ReadonlyMap<unknown, EnvironmentTag | null> = new Map<unknown, EnvironmentTag | null>([
  ['Customer', 'Customer'],
  ['Testing', 'Testing'],
  ['none', null],
  [null, null],
]);

/** How files name an environment; `none` stands for untagged. */
export const environmentName = (tag: EnvironmentTag | null): string => tag ?? 'none';

/**
 * Checks a line by the rules of get-or-create, and its token and environment.
 *
 * @param environment the environment of lines that name none; a line that names another one is rejected. `null` means untagged;
 *   with undefined, a line that names none is untagged.
 */
export function checkImportLine(
  line: number,
  fields: UncheckedLine,
  environment: EnvironmentTag | null | undefined,
): ImportLine | RejectedLine {
  const { user_group_id, name, token, mapping, properties } = fields;
  const input = { providedId: user_group_id, name, mapping: mappingEntries(mapping), properties };
  const issues: Issue[] = [];
  for (const issue of getOrCreateIssues(input)) if (issues.push(issue) === maxIssues) break;
  issues.push(...tokenIssues(token), ...environmentIssues(fields, environment));
  if (issues.length > 0) return { line, reason: describe(issues, mapping) };

  const named = Object.hasOwn(fields, 'environment') ? environments.get(fields.environment) : environment;
  return {
    line,
    providedId: user_group_id as string,
    environmentTag: named ?? null,
    isUntaggedByDefault: named === undefined,
    token: (token ?? undefined) as string | undefined,
    name: (name ?? undefined) as string | undefined,
    mapping: mapping == null ? undefined : JSON.stringify(mapping),
    properties: properties == null ? (properties as null | undefined) : JSON.stringify(properties),
  };
}

function tokenIssues(token: unknown): Issue[] {
  const path = ['token'];
  if (token == null) return [];
  if (typeof token !== 'string') return [{ path, message: 'must be a string.' }];
  if (mayBeUserGroupToken(token)) return [];
  return token.startsWith(tokenPrefixes.userGroup)
    ? [{ path, message: `begins with ${tokenPrefixes.userGroup} and is mistyped or truncated: its checksum does not match.` }]
    : [{ path, message: 'must have 16 to 255 printable characters.' }];
}

function environmentIssues(fields: UncheckedLine, expected: EnvironmentTag | null | undefined): Issue[] {
  const path = ['environment'];
  if (!Object.hasOwn(fields, 'environment')) return [];
  const named = environments.get(fields.environment);
  if (named === undefined) return [{ path, message: 'must be Customer, Testing or none.' }];
  if (expected === undefined || named === expected) return [];
  return [{ path, message: `is ${environmentName(named)}, not ${environmentName(expected)}, the only one of this import.` }];
}

/** The issues as one line, with the names that files have, and schema ids for the entries of a mapping. */
function describe(issues: readonly Issue[], mapping: unknown): string {
  const namesEntry = issues.some(({ path: [first, index] }) => first === 'mapping' && index !== undefined);
  const schemaIds = namesEntry ? Object.keys(mapping as object) : [];
  const renamed = issues.slice(0, maxIssues).map(({ path: [first, ...rest], message }) => {
    if (first === 'mapping')
      return { path: [first, ...rest.slice(0, 1).map((index) => schemaIds[Number(index)] ?? index)], message };
    return { path: [first === 'providedId' ? 'user_group_id' : (first ?? ''), ...rest], message };
  });
  return printable(describeIssues(boundIssues(renamed)));
}

/** A text in which characters that end a line, or control a terminal, are escaped. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A name from a file as it can be printed: in part if it is long, and without tokens. */
export const printableName = (name: string): string => printable(shorten(redactTokens(name)));
