import type { Database } from '../database/client.ts';
import { Prisma, type UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { Conflict, InvalidInput, type Issue, NotFound } from './errors.ts';
import { type DataSourceMapping, type Json, mappingIssues, propertiesIssues, textIssues } from './limits.ts';
import type { Statements } from './statements.ts';
import { issueToken, mayBeUserGroupToken } from './token-format.ts';

/** What the domain works on: Prisma, and the statements that requests share. */
export interface Db extends Pick<Database, 'prisma'> {
  readonly statements: Statements;
}

/** One way of saying which group is meant. */
export type UserGroupBy = { readonly teamId: number } | { readonly providedId: string } | { readonly token: string };

/** What a caller may say of a group. On creation, `null` counts as left out; on update, only `properties` may be `null`. */
export interface UserGroupFields {
  readonly name?: string | null | undefined;
  readonly mapping?: readonly DataSourceMapping[] | null | undefined;
  readonly properties?: Json | undefined;
}

const notFound = () => new NotFound('There is no such user group in the environment of this API token.');

/**
 * Finds the group that is meant, or nothing; a group that the caller may not see counts as nothing.
 *
 * @throws Forbidden without `groups:read`, before there is a promise. @throws InvalidInput when an id or a token cannot be one.
 */
export function findUserGroup(db: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup | undefined> {
  caller.require('groups:read');
  return locate(db, caller, by);
}

/**
 * Returns the caller's group with this id, and creates it if there is none. An existing group is returned as it is stored,
 * whatever else is given. Of any number of concurrent calls, in any number of processes, exactly one creates.
 *
 * @throws Forbidden without `groups:write`. @throws InvalidInput. @throws Conflict when a group of another environment, or an
 * untagged one, holds the id.
 */
export async function getOrCreateUserGroup(
  db: Db,
  caller: Caller,
  input: UserGroupFields & { readonly providedId: string },
): Promise<{ userGroup: UserGroup; created: boolean }> {
  caller.require('groups:write');
  const { providedId, name, mapping, properties } = input;
  refuse([...textIssues(['providedId'], providedId), ...fieldIssues(input)]);

  const { environmentTag } = caller;
  const findOwn = async () => {
    const groups = (await db.statements.groupsByProvidedId(providedId, caller.share)) ?? [];
    const own = groups.find((group) => group.environmentTag === environmentTag);
    // Two groups share an id only if one is Customer and the other Testing.
    if (!own && groups.some((group) => group.environmentTag === null || environmentTag === null)) throw idIsHeld(providedId);
    return own;
  };

  const existing = await findOwn();
  if (existing) return { userGroup: existing, created: false };

  const token = issueToken('ugt_');
  const draft = {
    ...{ providedId, environmentTag, token, name: name ?? providedId },
    properties: properties == null ? null : JSON.stringify(properties),
    mapping: JSON.stringify(asObject(mapping ?? [])),
  };
  const stored = await db.statements.insertGroup(draft, caller.share);
  // Calls for one id that came together share one insertion: the group is of the call whose token it bears.
  if (stored) return { userGroup: stored, created: stored.token === token };

  const winner = await findOwn(); // or the conflict with a group that came at the same moment
  if (winner) return { userGroup: winner, created: false };
  throw idIsHeld(providedId);
}

function idIsHeld(providedId: string): Conflict {
  return new Conflict(
    `The id ${JSON.stringify(providedId)} is held by a user group outside this API token's environment, and an untagged group shares its id ` +
      'with no other. Label the untagged group as Customer or Testing, or use another id.',
  );
}

/**
 * Changes the fields that are given; mapping and properties are replaced whole, and `properties: null` clears them.
 *
 * @throws Forbidden without `groups:write`. @throws InvalidInput. @throws NotFound.
 */
export async function updateUserGroup(db: Db, caller: Caller, by: UserGroupBy, change: UserGroupFields): Promise<UserGroup> {
  caller.require('groups:write');
  const { name, mapping, properties } = change;
  const nulls = (['name', 'mapping'] as const).filter((field) => change[field] === null);
  refuse([
    ...nulls.map((field) => ({ path: [field], message: 'must not be null; leave it out to keep it.' })),
    ...fieldIssues(change),
  ]);

  const group = await locate(db, caller, by);
  if (!group) throw notFound();
  const [updated] = await db.prisma.userGroup.updateManyAndReturn({
    where: { teamId: group.teamId, ...caller.visible },
    data: {
      ...(name != null && { name }),
      ...(mapping != null && { mapping: asObject(mapping) }),
      ...(properties !== undefined && { properties: (properties ?? Prisma.DbNull) as Prisma.InputJsonValue }),
    },
  });
  if (!updated) throw notFound();
  return updated;
}

/** The longest grace period of a token that is rotated away, in seconds: a week. */
const maxGraceSeconds = 604_800;

/**
 * Puts a new token in the place of the current one. Of concurrent rotations of one token exactly one succeeds. The old token
 * stops at once, or identifies the group for another `graceSeconds`; earlier tokens in their grace periods keep their ends.
 *
 * @throws Forbidden without `groups:write`. @throws InvalidInput. @throws NotFound when it is no group's current token.
 */
export async function rotateUserGroupToken(
  db: Db,
  caller: Caller,
  input: { readonly currentToken: string; readonly graceSeconds?: number | null | undefined },
): Promise<{ userGroup: UserGroup; previousTokenExpiresAt: Date | null }> {
  caller.require('groups:write');
  const { currentToken } = input;
  const graceSeconds = input.graceSeconds ?? 0;
  refuse([...textIssues(['currentToken'], currentToken), ...graceIssues(graceSeconds)]);
  if (!mayBeUserGroupToken(currentToken)) throw notFound();

  const newToken = issueToken('ugt_');
  const { environmentTag, everyEnvironment } = caller;
  const rotation = { currentToken, newToken, environmentTag, everyEnvironment, graceSeconds };
  const rotated = await db.statements.rotateToken(rotation, caller.share);
  if (!rotated) throw notFound();
  return rotated;
}

/** Finds the group that is meant among those that the caller sees. With `admin`, an id may mean two groups: then it is refused. */
async function locate({ statements }: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup | undefined> {
  if ('teamId' in by) return onlyVisible(caller, await statements.groupByTeamId(by.teamId, caller.share));
  if ('token' in by) {
    refuse(textIssues(['by', 'token'], by.token));
    return mayBeUserGroupToken(by.token) ? onlyVisible(caller, await statements.groupByToken(by.token, caller.share)) : undefined;
  }
  refuse(textIssues(['by', 'providedId'], by.providedId));
  const groups = (await statements.groupsByProvidedId(by.providedId, caller.share))?.filter((group) => caller.sees(group)) ?? [];
  const own = groups.find(({ environmentTag }) => environmentTag === caller.environmentTag);
  if (own || groups.length < 2) return own ?? groups[0];
  throw new InvalidInput([{ path: ['by', 'providedId'], message: 'means a Customer and a Testing group; say which by teamId.' }]);
}

function onlyVisible(caller: Caller, group: UserGroup | undefined): UserGroup | undefined {
  return group && caller.sees(group) ? group : undefined;
}

function fieldIssues({ name, mapping, properties }: UserGroupFields): Issue[] {
  return [
    ...(name == null ? [] : textIssues(['name'], name)),
    ...(mapping == null ? [] : mappingIssues(['mapping'], mapping)),
    ...(properties == null ? [] : propertiesIssues(['properties'], properties)),
  ];
}

function graceIssues(graceSeconds: number): Issue[] {
  const valid = Number.isInteger(graceSeconds) && graceSeconds >= 0 && graceSeconds <= maxGraceSeconds;
  return valid ? [] : [{ path: ['graceSeconds'], message: `must be a whole number from 0 to ${maxGraceSeconds}.` }];
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw new InvalidInput(issues);
}

const asObject = (mapping: readonly DataSourceMapping[]): Record<string, string> =>
  Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource]));
