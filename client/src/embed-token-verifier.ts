import { createError, type GatewayError } from './errors.ts';
import { readJwt } from './jwt.ts';
import { type Fetch, lost, requestOptions, withLimit } from './send.ts';

/** What an embed token says. */
export interface EmbedTokenClaims {
  /** The gateway and the environment. */
  readonly iss: string;
  /** The provided id of the group. */
  readonly sub: string;
  /** For whom the token is meant. */
  readonly aud?: string;
  /** When it was created, from when on and until when it is valid: in seconds since 1970. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  /** Another id for each token. */
  readonly jti: string;
  /** The number of the group. */
  readonly team_id: number;
  readonly env: 'Customer' | 'Testing' | null;
  /** Who views within the group, if the token says it. */
  readonly viewer?: { readonly id: string; readonly name?: string; readonly email?: string; readonly attributes?: unknown };
  /** What the token opens, by the names of whoever created it. */
  readonly resources?: readonly string[];
  /** The origin of the page that embeds. */
  readonly origin?: string;
  /** The properties of the group, if they were asked for. */
  readonly properties?: unknown;
}

/** Which embed tokens are accepted. */
export type EmbedTokenVerifierOptions = {
  /** The audience that tokens must have; null for tokens without one. */
  readonly audience: string | null;
  /** Fetches the keys instead of the global `fetch`. */
  readonly fetch?: Fetch;
  /** The time in milliseconds since 1970, instead of `Date.now`. */
  readonly now?: () => number;
} & (
  | {
      /** The gateway: its `PUBLIC_URL`. */
      readonly url: string;
      /** The environment that groups must have; null for untagged. */
      readonly environment: 'Customer' | 'Testing' | null;
    }
  | {
      /** The claim `iss` that tokens must have, if the gateway is not reached at its `PUBLIC_URL`. */
      readonly issuer: string;
      /** Where the public keys are: the URL of the JWK Set. */
      readonly jwks: string;
    }
);

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** How old keys may be, as the gateway says of them; and if it does not respond. */
const freshMs = 300_000;
const usableMs = 3_600_000;
/** Between two requests for keys, whatever tokens are sent. */
const leastPauseMs = 30_000;
/** How long a request for keys may take. */
const limitMs = 5_000;
/** How far the clocks of gateway and verifier may be apart for a token that was just created. */
const skewSeconds = 60;

/**
 * Creates a function that verifies embed tokens without a request for each: signature (EdDSA only), issuer, audience and times.
 * It fetches the public keys when they are first needed, every 5 minutes, and for an unknown key, at most every 30 seconds. While
 * the gateway does not respond, it uses them for up to an hour.
 *
 * @returns rejects with an {@link EmbedTokenError} for a token that is not accepted, with another {@link GatewayError} when the
 *   keys are not known.
 * @example
 * const verify = createEmbedTokenVerifier({ url: 'https://example.com/groups', environment: 'Testing', audience: 'dashboards' });
 * const { sub, team_id } = await verify(token);
 */
export function createEmbedTokenVerifier(options: EmbedTokenVerifierOptions): (token: unknown) => Promise<EmbedTokenClaims> {
  const { audience, now = Date.now } = options;
  const base = 'url' in options ? options.url.replace(/\/+$/, '') : '';
  const jwks = 'jwks' in options ? options.jwks : `${base}/.well-known/jwks.json`;
  const issuer = 'issuer' in options ? options.issuer : `${base}/${(options.environment ?? 'untagged').toLowerCase()}`;
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  let keys: ReadonlyMap<string, Key> = new Map();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  let failure: GatewayError | undefined;

  /** Never negative: after the clock was set back, keys would else stay fresh. */
  const ageMs = () => Math.abs(now() - fetchedAt);

  const refresh = async () => {
    triedAt = now();
    try {
      keys = await withLimit(jwks, limitMs, undefined, (signal) => fetchKeys(send, jwks, signal));
      fetchedAt = now();
      failure = undefined;
    } catch (cause) {
      failure = lost(jwks, cause);
    }
  };

  /** The key with an id; undefined if the gateway does not publish it. @throws GatewayError when that is not known. */
  const findKey = async (kid: string): Promise<Key | undefined> => {
    const isFresh = keys.has(kid) && ageMs() < freshMs;
    if (!isFresh && Math.abs(now() - triedAt) >= leastPauseMs) fetching = refresh();
    if (!isFresh) await fetching;
    const key = ageMs() < usableMs ? keys.get(kid) : undefined;
    if (!key && failure) throw failure;
    return key;
  };

  return async (token) => {
    const jwt = readJwt(token);
    const { alg, typ, kid, crit } = jwt?.header ?? {};
    if (!jwt || alg !== 'EdDSA' || typ !== 'JWT' || typeof kid !== 'string' || crit !== undefined)
      throw invalid('is no embed token');
    const key = await findKey(kid);
    if (!key) throw invalid('has an unknown key');
    if (!(await crypto.subtle.verify('Ed25519', key, jwt.signature, jwt.signed))) throw invalid('has a wrong signature');
    const claims = jwt.claims as unknown as EmbedTokenClaims;
    if (claims.iss !== issuer) throw invalid(`is not from ${issuer}: see its claim iss`);
    if ((claims.aud ?? null) !== audience) throw invalid('has another audience');
    const seconds = now() / 1_000;
    if (!(claims.nbf <= seconds + skewSeconds)) throw invalid('is not valid yet');
    if (!(claims.exp > seconds)) throw createError('EXPIRED_EMBED_TOKEN', 'The embed token has expired.');
    return claims;
  };
}

const invalid = (what: string) => createError('INVALID_EMBED_TOKEN', `The token ${what}.`);

/** The members of a public key that are needed (RFC 8037). */
interface Jwk {
  readonly kid: string;
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
}

/** Fetches the public keys by their ids. @throws when there is no response, or not a JWK Set. */
async function fetchKeys(send: Fetch, url: string, signal: AbortSignal): Promise<ReadonlyMap<string, Key>> {
  const response = await send(url, { ...requestOptions, signal });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const { keys } = (await response.json()) as { readonly keys: readonly Jwk[] };
  const ours = keys.filter(({ kty, crv }) => kty === 'OKP' && crv === 'Ed25519');
  const entries = ours.map(async ({ kid, kty, crv, x }) => {
    // Only these members: runtimes do not agree about the value of alg.
    const jwk = { kty, crv, x };
    return [kid, await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify'])] as const;
  });
  return new Map(await Promise.all(entries));
}
