/**
 * The prefixes of tokens: of the token that identifies a user group, and of an API token, a caller's credential. The pages import
 * them, too.
 */
export const tokenPrefixes = { userGroup: 'ugt_', apiToken: 'ugk_' } as const;
