import { authenticate, type Recognition } from '../domain/api-tokens.ts';
import { Caller } from '../domain/caller.ts';
import { Unauthenticated } from '../domain/errors.ts';

/** Tells who sends a request, by its `Authorization` header. Without one, or with an empty token, it is nobody. */
export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>;

/**
 * Reads `Authorization: Token <API_TOKEN>`.
 *
 * @throws Unauthenticated, from the function that it returns or by its promise, when there is a header and its credential is
 * not accepted.
 */
export function authenticateBy(recognition: Recognition): Authenticate {
  return (authorization) => {
    if (authorization === undefined || /^Token\s*$/i.test(authorization)) return Caller.anonymous;
    const [, secret] = /^Token +(\S+)$/i.exec(authorization.trim()) ?? [];
    if (!secret) throw new Unauthenticated('The Authorization header must read "Token <API_TOKEN>".');
    return authenticate(recognition, secret);
  };
}
