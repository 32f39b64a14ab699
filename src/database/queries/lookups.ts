import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { type ApiTokenLookups, bindApiTokenLookups } from './api-token-lookups.ts';
import { maxLookupKeys } from './batch-sizes.ts';
import { findKeyIdsOfTokens, findKeysOfLiveTokens } from './stored-tokens.ts';
import { bindUserGroupLookups, type UserGroupLookups } from './user-group-lookups.ts';
import { bindUserGroupPages, type UserGroupPages } from './user-group-pages.ts';

/**
 * The look-ups that requests share: keys that are requested in one turn of the event loop are sent in one statement. The share
 * says on whose behalf, so that no API token alone fills the queue. Pages are read in statements of their own.
 */
export interface Lookups extends UserGroupLookups, ApiTokenLookups, UserGroupPages {
  /** The ids of the encryption keys of the tables with tokens, in hexadecimal: for a token that is in neither. */
  readonly keyIdsOfTokens: Load<'all', readonly string[]>;
  /** Whether the key with this id encrypts tokens that still identify a group; undefined if not. For keys that are missing. */
  readonly hasLiveTokens: Load<string, true>;
}

/**
 * Binds the look-ups to a database. It may be a copy of the one that is written to; then a change, such as the revocation of an
 * API token, takes effect as soon as it has arrived there.
 */
export function bindLookups(database: Pick<Database, 'query'>): Lookups {
  return {
    ...bindUserGroupLookups(database),
    ...bindApiTokenLookups(database),
    ...bindUserGroupPages(database),
    keyIdsOfTokens: createBatchLoader<'all', readonly string[]>({
      keyOf: (all) => all,
      maxKeys: 1,
      load: async () => new Map([['all', await findKeyIdsOfTokens(database)]]),
    }),
    hasLiveTokens: createBatchLoader<string, true>({
      keyOf: (id) => id,
      maxKeys: maxLookupKeys,
      load: async (ids) => new Map((await findKeysOfLiveTokens(database, ids)).map((id) => [id, true])),
    }),
  };
}
