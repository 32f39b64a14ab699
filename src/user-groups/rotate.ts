import type { Caller } from '../caller.ts';
import { decryptToken, encryptToken } from '../encryption/stored-token.ts';
import { VersionMismatch } from '../errors.ts';
import { issueToken, mayBeUserGroupToken } from '../tokens.ts';
import { checkRotate } from './rules.ts';
import { lockGroup, type Rotated, rotateToken } from './statements/writes.ts';
import { locateToChange, refuse, targetOf } from './targets.ts';
import { notFound, requireKeysOfTokens, type Services, type UserGroupBy, withToken } from './user-groups.ts';

/** The input of a token rotation: exactly one of `currentToken` and `by`. */
export interface RotationInput {
  /** The token to replace. */
  readonly currentToken?: string | null | undefined;
  /** The group whose token to replace, whichever it is. */
  readonly by?: UserGroupBy | undefined;
  /** How long it still identifies the group, in seconds: 0 (the default) to 604,800. */
  readonly graceSeconds?: number | null | undefined;
  /** Whether to end the grace periods of tokens that were replaced earlier; `false` by default. */
  readonly endGracePeriods?: boolean | null | undefined;
  /** The version that the group must have; none permits any. */
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Replaces the current token with a new one. Of concurrent rotations of one token exactly one succeeds; with `by`, each does. The
 * old token stops immediately, or identifies the group for another `graceSeconds`. Tokens that were replaced earlier keep their
 * grace periods, or with `endGracePeriods` stop immediately.
 *
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound when no group has the token as its current one, or there is no such group.
 * @throws MissingKey as {@link findGroupOfToken} does.
 * @throws VersionMismatch when the group has another version.
 */
export async function rotateUserGroupToken(services: Services, caller: Caller, input: RotationInput): Promise<Rotated> {
  caller.require('groups:write');
  checkRotate(input);
  const { currentToken, by } = input;
  return by ? rotateTokenOf(services, caller, by, input) : rotateCurrentToken(services, caller, currentToken as string, input);
}

async function rotateCurrentToken(
  services: Services,
  caller: Caller,
  currentToken: string,
  input: RotationInput,
): Promise<Rotated> {
  if (!mayBeUserGroupToken(currentToken)) throw notFound();
  const { db, keys, sql } = services;
  const rotate = () => rotateStored(services, sql.query, caller, currentToken, input);
  let rotated = await rotate();
  if (!rotated) {
    // Then once more: while the statement waited for the row, it may have got its hash under another key.
    await requireKeysOfTokens(services);
    rotated = await rotate();
  }
  if (rotated) return rotated;
  if (input.expectedVersion == null) throw notFound();
  const hashes = keys.hashes(currentToken).map((hash) => Buffer.from(hash, 'hex'));
  const current = await db.userGroup.findFirst({ where: { tokenHash: { in: hashes } } });
  throw current && caller.canAccess(current) ? new VersionMismatch(current) : notFound();
}

/** Locks the group, so that its token is the one that is replaced. */
async function rotateTokenOf(services: Services, caller: Caller, by: UserGroupBy, input: RotationInput): Promise<Rotated> {
  const target = targetOf(caller, await locateToChange(services, caller, by));
  const rotated = await services.sql.transaction(async (query) => {
    const group = await lockGroup(query, target);
    if (!group) return undefined;
    const currentToken = input.graceSeconds ? decryptToken(services.keys, 'user_group', group) : '';
    return rotateStored(services, query, caller, currentToken, input, [Buffer.from(group.tokenHash).toString('hex')]);
  });
  return rotated ?? refuse(services, caller, target);
}

async function rotateStored(
  { keys }: Services,
  query: Services['sql']['query'],
  { author, environmentTag, allEnvironments }: Caller,
  currentToken: string,
  { expectedVersion, ...input }: RotationInput,
  currentHashes = keys.hashes(currentToken),
): Promise<Rotated | undefined> {
  const newToken = issueToken('userGroup');
  const graceSeconds = input.graceSeconds ?? 0;
  const rotated = await rotateToken(query, author, {
    currentHashes,
    retired: graceSeconds > 0 ? encryptToken(keys, 'retired_token', currentToken) : undefined,
    replacement: encryptToken(keys, 'user_group', newToken),
    environmentTag,
    allEnvironments,
    graceSeconds,
    endGracePeriods: input.endGracePeriods ?? false,
    expectedVersion,
  });
  return rotated && { ...rotated, userGroup: withToken(rotated.userGroup, newToken) };
}
