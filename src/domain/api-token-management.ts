import type { ListedApiToken } from '../database/queries/api-token-lookups.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { type ApiTokenPage, type ApiTokenPageInput, readApiTokenPage } from './api-token-page.ts';
import { type IssuedApiToken, issueApiToken, revokeApiToken, rotateApiToken } from './api-tokens.ts';
import type { Caller, Scope } from './caller.ts';
import { pageReads } from './page-reads.ts';
import type { Services } from './user-groups.ts';

/** The properties of an API token that a caller creates; null counts as omitted, except for the environment. */
export interface CreateApiTokenInput {
  readonly name: string;
  /** `null` means untagged; defaults to the environment of the caller's API token. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
}

/** What a caller may do with API tokens. Each operation rejects with `InvalidInput` or `NotFound`. */
export interface ApiTokenManagement {
  /** A page of all API tokens, the newest first. */
  list(input: ApiTokenPageInput): Promise<ApiTokenPage>;
  create(input: CreateApiTokenInput): Promise<IssuedApiToken>;
  /** @param overlapSeconds how long the replaced secret stays accepted: 0 to 604800. */
  rotate(number: number, overlapSeconds: number): Promise<IssuedApiToken>;
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
    list: (input) => pageReads.run(caller.share, () => readApiTokenPage(db, input)),
    create: ({ environmentTag = caller.environmentTag, expiresAt = null, ...rest }) =>
      issueApiToken(db, { ...rest, environmentTag, expiresAt }, author),
    rotate: (number, overlapSeconds) => rotateApiToken(db, number, overlapSeconds, author),
    revoke: (number) => revokeApiToken(db, number, author),
  };
}

/**
 * The API token with this number, of any environment; undefined when there is none.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function findApiToken({ db }: Pick<Services, 'db'>, caller: Caller, number: number): Promise<ListedApiToken | undefined> {
  caller.require('admin');
  return db.apiToken.findById(number, caller.share);
}
