import { tokenPrefixes } from '../../src/token-prefixes.ts';
import type { TokenKind } from '../../src/tokens.ts';

/** Finds the tokens of a kind in a text. `test/tokens.test.ts` tests the format itself. */
export const tokensOf = (kind: TokenKind): RegExp => new RegExp(`${tokenPrefixes[kind]}[0-9A-Za-z]{36}`, 'g');

/** Matches a text that is a token of a kind, and nothing else. */
export const isTokenOf = (kind: TokenKind): RegExp => new RegExp(`^${tokensOf(kind).source}$`);

/** A token that was never issued: its checksum is wrong. */
export const forgedToken = (kind: TokenKind): string => tokenPrefixes[kind] + '0'.repeat(36);
