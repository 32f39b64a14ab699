import { randomUUID } from 'node:crypto';
import type { Caller } from '../caller.ts';
import { type Issue, Suspended } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { mayBeUserGroupToken } from '../tokens.ts';
import { assertNoIssues, type InputCheck, selectorIssues, type Unchecked, type UncheckedBy } from '../user-groups/rules.ts';
import { findGroupOfToken, locate, notFound, type Services, type UserGroupBy } from '../user-groups/user-groups.ts';
import { textIssues } from '../user-groups/values.ts';
import { loadJwt, maxEmbedTokenSeconds } from './signing-keys.ts';

/** The limits of embed tokens. docs/limits.md lists the same figures. */
export const embedTokenLimits = {
  minEmbedTokenSeconds: 60,
  maxEmbedTokenSeconds,
  /** Characters of an embed token: one with the largest properties, id, audience and issuer has some 93,000. */
  maxEmbedTokenCharacters: 98_304,
} as const;

/** How long an embed token is valid if the caller does not say, in seconds. */
export const defaultEmbedTokenSeconds = 900;

const { minEmbedTokenSeconds } = embedTokenLimits;

/** Checks the input of a new embed token: the scope `embed:sign`, the selector, and the other members. */
const checkEmbedToken: InputCheck<Unchecked<'audience' | 'expiresInSeconds'> & { readonly by: UncheckedBy }> = (
  caller,
  input,
) => {
  caller.require('embed:sign');
  assertNoIssues(embedTokenIssues(input));
};

function* embedTokenIssues({
  by,
  audience,
  expiresInSeconds,
}: Unchecked<'audience' | 'expiresInSeconds'> & { readonly by: UncheckedBy }): Generator<Issue> {
  yield* selectorIssues(by);
  if (audience != null) yield* textIssues(['audience'], audience);
  if (expiresInSeconds != null && !isLifetime(expiresInSeconds)) {
    const message = `must be a whole number from ${minEmbedTokenSeconds} to ${maxEmbedTokenSeconds}.`;
    yield { path: ['expiresInSeconds'], message };
  }
}

function isLifetime(seconds: unknown): boolean {
  return Number.isInteger(seconds) && (seconds as number) >= minEmbedTokenSeconds && (seconds as number) <= maxEmbedTokenSeconds;
}

/** The members of a new embed token. */
export interface EmbedTokenInput {
  /** For whom it is meant: 1 to 255 characters. By default, the token names no audience. */
  readonly audience?: string | null | undefined;
  /** How long it is valid, in seconds: 60 to 86,400; 900 by default. */
  readonly expiresInSeconds?: number | null | undefined;
  /** Whether it contains the group's properties; `false` by default. */
  readonly includeProperties?: boolean | null | undefined;
}

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
 * @throws InvalidInput.
 * @throws NotFound when there is no such group, or the caller has no access to it; also for a token of a suspended one.
 * @throws Suspended.
 */
export async function createEmbedToken(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  input: EmbedTokenInput,
): Promise<{ token: string; expiresAt: Date }> {
  checkEmbedToken(caller, { by, ...input });
  const [group, keys, { signJwt }] = await Promise.all([
    locate(services, caller, by),
    services.embedTokens.signingKeys.read(caller.queueKey),
    loadJwt(),
  ]);
  if (!group) throw notFound();
  if (group.suspended) throw new Suspended();
  const { id, privateKey } = keys.signing();
  const { audience, expiresInSeconds, includeProperties } = input;
  const issuedAt = Math.floor(keys.now.getTime() / 1_000);
  const expiresAt = issuedAt + (expiresInSeconds ?? defaultEmbedTokenSeconds);
  const claims = {
    iss: issuerOf(services.embedTokens.publicUrl(), group.environmentTag),
    sub: group.providedId,
    ...(audience != null && { aud: audience }),
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt,
    jti: randomUUID(),
    team_id: group.teamId,
    env: group.environmentTag,
    ...(includeProperties && { properties: group.properties }),
  };
  return { token: await signJwt(claims, id, privateKey), expiresAt: new Date(expiresAt * 1_000) };
}

/** The result of an introspection, as RFC 7662 defines it. */
export type Introspection =
  | { readonly active: false }
  | {
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
    };

const inactive = { active: false } as const;

/**
 * Which group a token identifies: a user group token, current or in its grace period, or an embed token. Strict: everything is
 * read from the database, so that a token is inactive as soon as it is rotated, or its group is deleted, suspended, or moved to
 * another environment.
 *
 * @throws Forbidden without `groups:resolve`.
 */
export async function introspect(services: Services, caller: Caller, token: string): Promise<Introspection> {
  caller.require('groups:resolve');
  // No embed token is as short as a user group token: its key id and signature alone have 129 characters, its claims more.
  return mayBeUserGroupToken(token) ? resolveUserGroupToken(services, caller, token) : resolveEmbedToken(services, caller, token);
}

async function resolveUserGroupToken(services: Services, caller: Caller, token: string): Promise<Introspection> {
  const found = await findGroupOfToken(services, caller, token);
  if (!found || !caller.canAccess(found.userGroup)) return inactive;
  const { expiresAt } = found;
  return active(found.userGroup, expiresAt ? { exp: Math.floor(expiresAt.getTime() / 1_000) } : {});
}

/** Three parts in base64url; none is empty. */
const compactJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** What an embed token says, as {@link createEmbedToken} made it. */
interface EmbedTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud?: string;
  readonly exp: number;
  readonly team_id: number;
  readonly env: EnvironmentTag | null;
}

async function resolveEmbedToken(services: Services, caller: Caller, token: string): Promise<Introspection> {
  if (token.length > embedTokenLimits.maxEmbedTokenCharacters || !compactJwt.test(token)) return inactive;
  const [{ now, published }, { verifyJwt }] = await Promise.all([
    services.embedTokens.signingKeys.read(caller.queueKey),
    loadJwt(),
  ]);
  const verified = await verifyJwt(token, published, now);
  if (!verified) return inactive;
  const { iss, sub, aud, exp, team_id, env } = verified as unknown as EmbedTokenClaims;
  const group = await services.db.userGroup.findByTeamId(team_id, caller.queueKey);
  if (!group || group.suspended || !caller.canAccess(group)) return inactive;
  const { providedId, environmentTag } = group;
  const isCurrent =
    providedId === sub && environmentTag === env && issuerOf(services.embedTokens.publicUrl(), environmentTag) === iss;
  return isCurrent ? active(group, { exp, ...(aud !== undefined && { aud }) }) : inactive;
}

function active({ providedId, teamId, environmentTag, name }: UserGroup, more: { exp?: number; aud?: string }): Introspection {
  return { active: true, sub: providedId, team_id: teamId, env: environmentTag, name, ...more };
}
