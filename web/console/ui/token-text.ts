import { tokenPrefixes } from '../../../src/token-prefixes.ts';

const anyPrefix = new RegExp(`(?<![0-9A-Za-z])(?:${Object.values(tokenPrefixes).join('|')})`);
const groupToken = new RegExp(`(?<![0-9A-Za-z])${tokenPrefixes.userGroup}[0-9A-Za-z]{36}(?![0-9A-Za-z])`);

/** Whether a text has what looks like a token, or the beginning of one, and so must not be in a URL. */
export const containsToken = (text: string): boolean => anyPrefix.test(text);

/** A text for a URL; an empty one in the place of one that must not be there. */
export const withoutToken = (text: string): string => (containsToken(text) ? '' : text);

/** The whole user group token in a text, such as one that was pasted in quotation marks; undefined if there is none. */
export const groupTokenIn = (text: string): string | undefined => groupToken.exec(text)?.[0];
