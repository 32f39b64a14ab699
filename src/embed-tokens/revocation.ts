import type { Caller } from '../caller.ts';
import { GatewayError } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { locate, notFound, type Services, type UserGroupBy } from '../user-groups/user-groups.ts';
import { checkRevocation, embedTokenLimits } from './rules.ts';

/**
 * Revokes every embed token that a group, or one of its viewers, has now: introspection finds them inactive from the next request
 * on, on every instance. Verifiers that only check signatures accept them until they expire. Tokens that are created later are
 * not affected.
 *
 * @param viewerId the viewer; null and undefined mean all tokens of the group, with a viewer and without.
 * @throws Forbidden without `embed:sign`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a suspended group.
 * @throws GatewayError `RATE_LIMITED` when the tokens of too many viewers of the group were revoked within a day.
 */
export async function revokeEmbedTokens(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  viewerId?: string | null,
): Promise<UserGroup> {
  caller.require('embed:sign');
  checkRevocation({ by, viewerId });
  const group = await locate(services, caller, by, { withJson: false });
  if (!group) throw notFound();
  const { teamId } = group;
  const { environmentTag, allEnvironments, author } = caller;
  const revocation = { teamId, viewerId: viewerId ?? null, environmentTag, allEnvironments, author };
  const revoked = await services.embedTokens.revocations.revoke(revocation);
  if (!revoked) throw notFound(); // deleted, or moved to another environment
  if (revoked === 'full') throw tooManyViewers();
  return revoked;
}

const { maxRevokedViewers } = embedTokenLimits;

/** When there is room again depends on the first of these revocations, so it is worth trying now and then. */
const retryAfterSeconds = 3_600;

const tooManyViewers = (): GatewayError =>
  new GatewayError(
    'RATE_LIMITED',
    `The embed tokens of ${maxRevokedViewers} viewers of this user group were revoked within a day, the most that are permitted. Nothing ` +
      `was changed. Revoke all embed tokens of the group, without viewerId, or send it again after ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
