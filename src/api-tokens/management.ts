import type { Caller } from '../caller.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import type { Scope } from '../scopes.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { type IssuedApiToken, issueApiToken, revokeApiToken, rotateApiToken } from './api-tokens.ts';
import { type ApiTokenChanges, updateApiToken } from './update.ts';

/** The properties of an API token that a caller creates; null counts as omitted, except for the environment. */
export interface CreateApiTokenInput {
  readonly name: string;
  /** `null` means untagged; defaults to the environment of the caller's API token. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
  /** Requests in 60 seconds: 1 to 1,000,000; `null` means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
}

/** The changes of API tokens that a caller may make. Each operation rejects with `InvalidInput` or `NotFound`. */
export interface ApiTokenManagement {
  create(input: CreateApiTokenInput): Promise<IssuedApiToken>;
  /** @param overlapSeconds how long the replaced secret stays accepted: 0 to 604800. */
  rotate(number: number, overlapSeconds: number): Promise<IssuedApiToken>;
  update(number: number, changes: ApiTokenChanges): Promise<ApiToken>;
  revoke(number: number): Promise<ApiToken>;
}

/**
 * The management of API tokens, of every environment, by a caller. The operations are the same as those of the commands.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function manageApiTokens({ db }: Pick<Services, 'db'>, caller: Caller): ApiTokenManagement {
  caller.require('admin');
  const { author } = caller;
  return {
    create: ({ environmentTag = caller.environmentTag, expiresAt = null, ...rest }) =>
      issueApiToken(db, { ...rest, environmentTag, expiresAt }, author),
    rotate: (number, overlapSeconds) => rotateApiToken(db, number, overlapSeconds, author),
    update: (number, changes) => updateApiToken(db, number, changes, author),
    revoke: (number) => revokeApiToken(db, number, author),
  };
}
