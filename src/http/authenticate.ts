import { type AuthDependencies, authenticate } from '../domain/api-tokens.ts';
import { Caller } from '../domain/caller.ts';
import { Unauthenticated } from '../domain/errors.ts';

/** The schemes in which an API token may be sent; both mean the same. */
const authorizationSchemes = ['Token', 'Bearer'] as const;

/** A scheme in which an API token may be sent. */
export type AuthorizationScheme = (typeof authorizationSchemes)[number];

/**
 * Finds the caller of a request by its `Authorization` header. Without one, or with an empty token, the caller is anonymous.
 *
 * @param schemes the schemes that the path accepts; all of them by default.
 */
export type Authenticate = (
  authorization: string | undefined,
  schemes?: readonly AuthorizationScheme[],
) => Caller | Promise<Caller>;

/**
 * Reads `Authorization: Token <API_TOKEN>` or `Authorization: Bearer <API_TOKEN>`.
 *
 * @throws Unauthenticated, from the returned function or its promise, when there is a header and its scheme or its credential
 * is not accepted.
 */
export function authenticateBy(recognition: AuthDependencies): Authenticate {
  return (authorization, schemes = authorizationSchemes) => {
    if (authorization === undefined) return Caller.anonymous;
    // As nearly everybody writes it.
    if (authorization.startsWith('Token ') && authorization.lastIndexOf(' ') === 5 && authorization.length > 6) {
      return authenticate(recognition, authorization.slice(6));
    }
    const [name = '', ...credentials] = authorization.trim().split(/ +/);
    const scheme = authorizationSchemes.find((known) => known.toLowerCase() === name.toLowerCase());
    if (!scheme || !schemes.includes(scheme)) throw otherScheme(schemes);
    const [secret] = credentials;
    if (secret === undefined) return Caller.anonymous;
    if (credentials.length > 1) throw otherScheme(schemes);
    return authenticate(recognition, secret);
  };
}

function otherScheme(schemes: readonly AuthorizationScheme[]): Unauthenticated {
  const forms = schemes.map((scheme) => `"${scheme} <API_TOKEN>"`).join(' or ');
  return new Unauthenticated(`The Authorization header must be ${forms} for this path.`);
}
