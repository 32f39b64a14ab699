import { hash, randomBytes } from 'node:crypto';
import { boundIssues, describeIssues, type Issue, maxIssues, shorten } from '../errors.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { tokenPrefixes } from '../token-prefixes.ts';
import { mayBeUserGroupToken, redactTokens } from '../tokens.ts';
import { givenAttributes, memberPath, type UserGroupFields } from './attribute-values.ts';
import { getOrCreateIssues } from './rules.ts';
import type { Claim, ImportClaims } from './statements/import-claims.ts';
import { newTextIssues } from './values.ts';

/** The limits of the files that `groups import` reads. */
export const importLimits = {
  /** The size of one line in bytes, or of one CSV record, which may span lines. Every user group that is exported fits. */
  maxLineBytes: 4_194_304,
  /** The columns of a CSV file. */
  maxColumns: 100,
  /** The rejected lines that are printed one by one. */
  maxPrintedRejections: 100,
  /** The reasons whose rejected lines are counted one by one. */
  maxCountedReasons: 50,
} as const;

/** How many lines are written in one transaction at most, and how many bytes of them, unless one line has more. */
export const importBatch = { maxLines: 1_000, maxBytes: 1_048_576 } as const;

/** The fields of a line, in the order in which files have them. */
export const importFields: readonly string[] = [
  'user_group_id',
  'name',
  'token',
  ...givenAttributes.map(([, { member }]) => member).filter((member) => member !== 'name'),
  'status',
  'suspended_reason',
  'environment',
];

/** Other names that fields may have in a file: those of the GraphQL schema. */
const schemaNames: Readonly<Record<string, string>> = {
  user_group_id: 'providedId',
  environment: 'environmentTag',
  suspended_reason: 'suspendedReason',
  ...Object.fromEntries(givenAttributes.flatMap(([name, { member }]) => (name === member ? [] : [[member, name]]))),
};

/** Every name that a field may have in a file. */
export const importNames: readonly string[] = [...importFields, ...Object.values(schemaNames)];

/**
 * The fields of a line as they were read: any may be missing, or of any type. `null` counts as missing for a new group, except as
 * noted below.
 */
export type UncheckedLine = Readonly<Record<string, unknown>>;

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
  /** Whether the group is suspended. Without it, a new group is active, and the status of another one stays. */
  readonly suspended: boolean;
  /** Why it is suspended. */
  readonly suspendedReason: string | null | undefined;
  /** What callers give. */
  readonly given: UserGroupFields;
  /** The fields that are null, and that a group which exists cannot be without. */
  readonly nulls: readonly string[];
}

/** The fields of {@link ImportLine.nulls}. */
const neverNull = ['token', ...givenAttributes.flatMap(([, { member, nullable }]) => (nullable ? [] : [member]))];

/** A line that was not imported, and why: one line of text without any token. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
  /** The reason without what differs from line to line, such as the name of a property: what lines are counted by. */
  readonly kind: string;
}

const environments: ReadonlyMap<unknown, EnvironmentTag | null> = new Map<unknown, EnvironmentTag | null>([
  ['Customer', 'Customer'],
  ['Testing', 'Testing'],
  ['CUSTOMER', 'Customer'],
  ['TESTING', 'Testing'],
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
  unchecked: UncheckedLine,
  environment: EnvironmentTag | null | undefined,
): ImportLine | RejectedLine {
  const fields = withFileNames(unchecked);
  const { user_group_id, token, mapping } = fields;
  const given = Object.fromEntries(
    givenAttributes.map(([name, { member, fromMember }]) => [name, fromMember ? fromMember(fields[member]) : fields[member]]),
  );
  const issues: Issue[] = [];
  for (const issue of getOrCreateIssues({ providedId: user_group_id, ...given })) if (issues.push(issue) === maxIssues) break;
  issues.push(
    ...tokenIssues(token),
    ...environmentIssues(fields, environment),
    ...statusIssues(fields),
    ...repeatedFieldIssues(unchecked),
  );
  if (issues.length > 0) return { line, ...describe(issues, mapping) };

  const named = Object.hasOwn(fields, 'environment') ? environments.get(fields.environment) : environment;
  return {
    line,
    providedId: user_group_id as string,
    environmentTag: named ?? null,
    isUntaggedByDefault: named === undefined,
    token: (token ?? undefined) as string | undefined,
    suspended: isSuspended(fields.status),
    suspendedReason: fields.suspended_reason as string | null | undefined,
    given,
    nulls: neverNull.filter((field) => fields[field] === null),
  };
}

/** The same fields under the names of {@link importFields}. */
function withFileNames(given: UncheckedLine): UncheckedLine {
  const fields: Record<string, unknown> = { ...given };
  for (const [field, schemaName] of Object.entries(schemaNames)) {
    if (Object.hasOwn(given, schemaName) && !Object.hasOwn(given, field)) fields[field] = given[schemaName];
  }
  return fields;
}

const repeatedFieldIssues = (given: UncheckedLine): Issue[] =>
  Object.entries(schemaNames)
    .filter(([field, schemaName]) => Object.hasOwn(given, field) && Object.hasOwn(given, schemaName))
    .map(([field, schemaName]) => ({ path: [field], message: `is also given as ${schemaName}; give one of the two.` }));

function tokenIssues(token: unknown): Issue[] {
  const path = ['token'];
  if (token == null) return [];
  if (typeof token !== 'string') return [{ path, message: 'must be a string.' }];
  if (mayBeUserGroupToken(token)) return [];
  return token.startsWith(tokenPrefixes.userGroup)
    ? [{ path, message: `begins with ${tokenPrefixes.userGroup} and is mistyped or truncated: its checksum does not match.` }]
    : [{ path, message: 'must have 16 to 255 printable characters.' }];
}

const statuses: ReadonlySet<unknown> = new Set(['active', 'suspended', 'ACTIVE', 'SUSPENDED']);
const isSuspended = (status: unknown): boolean => status === 'suspended' || status === 'SUSPENDED';

function statusIssues({ status, suspended_reason: reason }: UncheckedLine): Issue[] {
  if (status != null && !statuses.has(status)) return [{ path: ['status'], message: 'must be active or suspended.' }];
  const path = ['suspended_reason'];
  if (reason == null) return [];
  if (!isSuspended(status)) return [{ path, message: 'must not be given unless the status is suspended.' }];
  return [...newTextIssues(path, reason)];
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
function describe(issues: readonly Issue[], mapping: unknown): Pick<RejectedLine, 'reason' | 'kind'> {
  const renamed = issues.slice(0, maxIssues).map(({ path, message }) => ({ path: memberPath(path, mapping), message }));
  // Without the place of the character, which `printableIssues` adds.
  const kindOf = (message: string) => message.replace(/; character \d+ is U\+[0-9A-F]{4}\.$/, '.');
  const kinds = renamed.map(({ path, message }) => describeIssues([{ path: path.slice(0, 1), message: kindOf(message) }]));
  return { reason: printable(describeIssues(boundIssues(renamed))), kind: [...new Set(kinds)].join(' ') };
}

/** A text in which characters that end a line, or control a terminal, are escaped. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A name from a file as it can be printed: in part if it is long, and without tokens. */
export const printableName = (name: string): string => printable(shorten(redactTokens(name)));

/** What is hashed with ids and tokens, so that the hashes reveal nothing about them. It is never stored. */
const secret = randomBytes(32).toString('base64');

/** The first 16 bytes of a hash, in hexadecimal. */
const keyOf = (kind: string, value: string): string => hash('sha256', `${secret}${kind}\0${value}`).slice(0, 32);

/** The keys of what a line takes: its id, in each environment in which no other group may have it, and its token. */
function keysOf({ providedId, environmentTag, token }: ImportLine) {
  const ids = (environmentTag === null ? ['Customer', 'Testing'] : [environmentTag]).map((tag) => keyOf(tag, providedId));
  return { ids, tokens: token === undefined ? [] : [keyOf('token', token)] };
}

/** Moves the lines that repeat the id or the token of an earlier line of the import to those rejected. */
export async function rejectRepeated(
  claims: ImportClaims,
  batch: { lines: ImportLine[]; readonly rejected: RejectedLine[] },
): Promise<void> {
  const all = batch.lines.map((line) => ({ line, ...keysOf(line) }));
  const toClaims = ({ line: { line }, ids, tokens }: (typeof all)[number]) =>
    [...ids, ...tokens].map((key): Claim => ({ key, line }));
  const taken = await claims.take(all.flatMap(toClaims));
  if (taken.size === 0) return;

  batch.lines = all.flatMap(({ line, ids, tokens }) => {
    const earlier = (keys: readonly string[]) =>
      keys.map((key) => taken.get(key)).find((first) => first !== undefined && first !== line.line);
    const [sameId, sameToken] = [earlier(ids), earlier(tokens)];
    if (sameId === undefined && sameToken === undefined) return [line];
    const describe = (earlierLine: string) =>
      sameId === undefined
        ? `token: is the same as in ${earlierLine}.`
        : `user_group_id: is the same as in ${earlierLine}; only a Customer and a Testing group can share an id.`;
    const reason = describe(`line ${sameId ?? sameToken}`);
    batch.rejected.push({ line: line.line, reason, kind: describe('an earlier line') });
    return [];
  });
}
