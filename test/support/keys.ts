import { decryptToken, encryptToken, KeyRing } from '../../src/encryption/keys.ts';

/** The encryption key of the tests' databases, as the setting takes it. */
export const testKey = 'dGVzdHMgZW5jcnlwdCB3aXRoIHRoaXMga2V5LCAzMiE=';

/** The same key as gateways in this process use it. */
export const testKeys = new KeyRing([Buffer.from(testKey, 'base64')]);

/** A user group token as the columns of `user_group` that store it: `data: { …, ...storedToken('a token') }`. */
export const storedToken = (token: string) => encryptToken(testKeys, 'user_group', token);

/** The current token of a stored user group. */
export const tokenOf = (group: Parameters<typeof decryptToken>[2]): string => decryptToken(testKeys, 'user_group', group);

/** What a retired token is found by. */
export const retiredHash = (token: string) => encryptToken(testKeys, 'retired_token', token).tokenHash;
