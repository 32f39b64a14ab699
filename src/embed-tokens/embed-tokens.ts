import { randomInt, randomUUID } from 'node:crypto';
import { type Context, inTransaction } from '../app.ts';
import { readClock } from '../database/client.ts';
import { InvalidInput, Suspended } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { mayBeUserGroupToken } from '../tokens.ts';
import { locateToChange } from '../user-groups/change.ts';
import { findGroupOfToken, locate, notFound, type UserGroupBy } from '../user-groups/user-groups.ts';
import {
  checkEmbedToken,
  checkRevocation,
  defaultEmbedTokenSeconds,
  type EmbedTokenInput,
  embedTokenLimits,
  type Viewer,
} from './rules.ts';
import { loadJwt, readSigningKeys } from './signing-keys.ts';

/**
 * The issuer of the tokens of an environment. Each has its own, because two environments may have groups with the same id: a
 * verifier that accepts one issuer accepts one environment.
 */
function issuerOf(publicUrl: string, environmentTag: EnvironmentTag | null): string {
  return `${publicUrl}/${(environmentTag ?? 'untagged').toLowerCase()}`;
}

/**
 * Creates a signed token (JWT) for the selected group, which others verify without a request to the gateway. Its times are from
 * the database's clock, which is the same for all instances.
 *
 * @throws Forbidden without `embed:sign`.
 * @throws InvalidInput, also when the token would be larger than {@link embedTokenLimits} permit.
 * @throws NotFound when there is no such group, or the caller has no access to it; also for a token of a suspended one.
 * @throws Suspended.
 */
export async function createEmbedToken(
  context: Context,
  by: UserGroupBy,
  input: EmbedTokenInput,
): Promise<{ token: string; expiresAt: Date }> {
  context.caller.require('embed:sign');
  checkEmbedToken({ by, ...input });
  const [group, keys, { signJwt }] = await Promise.all([locate(context, by), readSigningKeys(context), loadJwt()]);
  if (!group) throw notFound();
  if (group.suspended) throw new Suspended();
  const { id, privateKey } = keys.signing();
  const { audience, expiresInSeconds, includeProperties, viewer, resources, origin } = input;
  const issuedAt = Math.floor(keys.now.getTime() / 1_000);
  const expiresAt = issuedAt + (expiresInSeconds ?? defaultEmbedTokenSeconds);
  const claims = {
    iss: issuerOf(context.app.publicUrl(), group.environmentTag),
    sub: group.providedId,
    ...(audience != null && { aud: audience }),
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt,
    jti: randomUUID(),
    team_id: group.teamId,
    env: group.environmentTag,
    generation: group.embedGeneration,
    ...(viewer && {
      viewer: viewerClaim(viewer),
      viewer_generation: (await context.reads.viewerGeneration({ teamId: group.teamId, viewerId: viewer.id })) ?? 0,
    }),
    ...(resources != null && { resources }),
    ...(origin != null && { origin }),
    ...(includeProperties && { properties: group.properties }),
  };
  const token = await signJwt(claims, id, privateKey);
  if (token.length > maxEmbedTokenBytes) throw tooLarge(token.length);
  return { token, expiresAt: new Date(expiresAt * 1_000) };
}

const { maxEmbedTokenBytes, maxEmbedTokenSeconds } = embedTokenLimits;

/** What is known of a viewer, without what is not given. */
const viewerClaim = ({ id, name, email, attributes }: Viewer): object =>
  Object.fromEntries(Object.entries({ id, name, email, attributes }).filter(([, value]) => value != null));

/** A token is ASCII: a character is a byte. */
const tooLarge = (bytes: number): InvalidInput =>
  new InvalidInput([
    {
      path: [],
      message:
        `The embed token would have ${bytes} bytes, and at most ${maxEmbedTokenBytes} are permitted, because it has to fit into a ` +
        'header. Give it fewer resources and attributes, or leave out the properties.',
    },
  ]);

/**
 * Revokes every embed token that a group, or one of its viewers, has now: introspection finds them inactive from the next request
 * on, on every instance. Verifiers that only check signatures accept them until they expire. Tokens that are created later are
 * not affected.
 *
 * @param viewerId the viewer; null and undefined mean all tokens of the group, with a viewer and without.
 * @throws Forbidden without `embed:sign`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a suspended group.
 */
export async function revokeEmbedTokens(context: Context, by: UserGroupBy, viewerId?: string | null): Promise<UserGroup> {
  const { caller } = context;
  caller.require('embed:sign');
  checkRevocation({ by, viewerId });
  const { teamId } = await locateToChange(context, by);
  const where = { teamId, ...(!caller.allEnvironments && { environmentTag: caller.environmentTag }) };
  // At random: after a restore, too, it is none that a token has. The first one of a group and of a viewer is 0.
  const generation = randomInt(1, 2 ** 31 - 1);
  return inTransaction(context, async ({ db }) => {
    if (viewerId == null) {
      const [group] = await db.userGroup.updateManyAndReturn({ where, data: { embedGeneration: generation } });
      if (!group) throw notFound(); // deleted, or moved to another environment
      await db.revokedViewer.deleteMany({ where: { teamId } });
      return group;
    }
    await db.$queryRaw`select team_id from user_group where team_id = ${teamId}::int for update`;
    const group = await db.userGroup.findFirst({ where });
    if (!group) throw notFound();
    const now = (await readClock(db)).getTime();
    const revocation = { generation, expiresAt: new Date(now + keptRevocationSeconds * 1_000) };
    await db.revokedViewer.upsert({
      where: { teamId_viewerId: { teamId, viewerId } },
      create: { teamId, viewerId, ...revocation },
      update: revocation,
    });
    return group;
  });
}

/**
 * How long the generation of a viewer is kept, in seconds. A day longer than a token lives: one may be created at the same time,
 * and the clock may be set back, or after a failover be that of another server.
 */
const keptRevocationSeconds = maxEmbedTokenSeconds + 86_400;

/** The result of an introspection, as RFC 7662 defines it. */
export type Introspection =
  | { readonly active: false }
  | ({
      readonly active: true;
      /** The group's provided id. */
      readonly sub: string;
      readonly team_id: number;
      readonly env: EnvironmentTag | null;
      readonly name: string;
      /** When the token expires, in seconds since 1970: that of an embed token, or the end of a grace period. */
      readonly exp?: number;
      /** The audience of an embed token that has one. */
      readonly aud?: string;
    } & EmbedContext);

/** What an embed token was created for; what was not given is absent. */
interface EmbedContext {
  readonly viewer?: object;
  readonly resources?: readonly string[];
  readonly origin?: string;
}

const inactive = { active: false } as const;

/**
 * Which group a token identifies: a user group token, current or in its grace period, or an embed token. Strict: everything is
 * read from the database, so that a token is inactive as soon as its group is deleted, suspended, or moved to another
 * environment, a user group token also as soon as it is rotated, or its grace period is over, and an embed token as soon as it is
 * revoked.
 *
 * @throws Forbidden without `groups:resolve`.
 */
export async function introspect(context: Context, token: string): Promise<Introspection> {
  context.caller.require('groups:resolve');
  // No embed token is as short as a user group token: its key id and signature alone have 129 characters, its claims more.
  return mayBeUserGroupToken(token) ? resolveUserGroupToken(context, token) : resolveEmbedToken(context, token);
}

async function resolveUserGroupToken(context: Context, token: string): Promise<Introspection> {
  const found = await findGroupOfToken(context, token);
  if (!found || !context.caller.canAccess(found.userGroup)) return inactive;
  const { expiresAt } = found;
  return active(found.userGroup, expiresAt ? { exp: Math.floor(expiresAt.getTime() / 1_000) } : {});
}

/** Three parts in base64url; none is empty. */
const compactJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What an embed token says, as {@link createEmbedToken} made it. */
interface EmbedTokenClaims extends EmbedContext {
  readonly iss: string;
  readonly sub: string;
  readonly aud?: string;
  readonly exp: number;
  readonly team_id: number;
  readonly env: EnvironmentTag | null;
  readonly generation: number;
  readonly viewer?: { readonly id: string };
  readonly viewer_generation?: number;
}

async function resolveEmbedToken(context: Context, token: string): Promise<Introspection> {
  const { app, caller, reads } = context;
  if (token.length > maxEmbedTokenBytes || !compactJwt.test(token)) return inactive;
  const [{ now, published }, { verifyJwt }] = await Promise.all([readSigningKeys(context), loadJwt()]);
  const verified = await verifyJwt(token, published, now);
  if (!verified) return inactive;
  const { iss, sub, aud, exp, team_id, env, generation, viewer, viewer_generation, resources, origin } =
    verified as unknown as EmbedTokenClaims;
  const viewerKey = viewer && { teamId: team_id, viewerId: viewer.id };
  const viewerGeneration = viewerKey && (await reads.viewerGeneration(viewerKey));
  // The group last: a revocation for all of it deletes the generations of its viewers.
  const group = await reads.groupByTeamId(team_id);
  if (!group || group.suspended || !caller.canAccess(group)) return inactive;
  const { providedId, environmentTag, embedGeneration } = group;
  const isCurrent = providedId === sub && environmentTag === env && issuerOf(app.publicUrl(), environmentTag) === iss;
  const isRevoked = generation !== embedGeneration || (viewerGeneration !== undefined && viewer_generation !== viewerGeneration);
  if (!isCurrent || isRevoked) return inactive;
  const given = { ...(viewer && { viewer }), ...(resources && { resources }), ...(origin !== undefined && { origin }) };
  return active(group, { exp, ...(aud !== undefined && { aud }), ...given });
}

function active(
  { providedId, teamId, environmentTag, name }: UserGroup,
  more: { readonly exp?: number; readonly aud?: string } & EmbedContext,
): Introspection {
  return { active: true, sub: providedId, team_id: teamId, env: environmentTag, name, ...more };
}
