import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { readApiTokenId } from './api-token-input.ts';
import { type ApiTokenPage, type ApiTokenPageInput, readApiTokenPage } from './api-token-page.ts';
import { type IssuedApiToken, issueApiToken, revokeApiToken, rotateApiToken } from './api-tokens.ts';
import type { Caller, Scope } from './caller.ts';
import { pageReads } from './page-reads.ts';
import type { Db } from './user-groups.ts';

/** The properties of an API token that a caller creates; null counts as omitted, but for the environment. */
export interface CreateApiTokenInput {
  readonly name: string;
  /** `null` means untagged; defaults to the environment of the caller's API token. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null | undefined;
}

/** An API token, selected by its number as a text. */
export interface ApiTokenSelector {
  readonly id: string;
}

/** The API token whose secret is replaced. */
export interface RotateApiTokenInput extends ApiTokenSelector {
  /** How long the replaced secret stays accepted: 0, the default, to 604800. */
  readonly overlapSeconds?: number | null | undefined;
}

/** What a caller may do with API tokens. Each operation rejects with `InvalidInput` or `NotFound`. */
export interface ApiTokenManagement {
  /** A page of all API tokens, the newest first. */
  list(input: ApiTokenPageInput): Promise<ApiTokenPage>;
  create(input: CreateApiTokenInput): Promise<IssuedApiToken>;
  rotate(input: RotateApiTokenInput): Promise<IssuedApiToken>;
  revoke(input: ApiTokenSelector): Promise<ApiToken>;
}

/**
 * The management of API tokens, of every environment, by a caller. The operations are the same as those of the commands.
 *
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function manageApiTokens({ prisma, writes }: Pick<Db, 'prisma' | 'writes'>, caller: Caller): ApiTokenManagement {
  caller.require('admin');
  const { author } = caller;
  return {
    list: (input) => pageReads.run(caller.share, () => readApiTokenPage(prisma, input)),
    create: ({ environmentTag = caller.environmentTag, expiresAt = null, ...rest }) =>
      issueApiToken(prisma, { ...rest, environmentTag, expiresAt }, author),
    rotate: async ({ id, overlapSeconds }) => rotateApiToken({ prisma, writes }, readApiTokenId(id), overlapSeconds ?? 0, author),
    revoke: async ({ id }) => revokeApiToken(prisma, readApiTokenId(id), author),
  };
}
