import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { tokenPrefixes } from './token-prefixes.ts';

/** What a token is for. */
export type TokenKind = keyof typeof tokenPrefixes;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 30;
const checksumLength = 6;

/** The largest multiple of 62 in a byte's range: bytes from there on are discarded, or some characters would be more likely. */
const unbiasedBytes = 256 - (256 % alphabet.length);

/** Generates a token: the prefix, 30 random base62 characters, and a checksum of 6. */
export function issueToken(kind: TokenKind): string {
  const prefix = tokenPrefixes[kind];
  let random = '';
  while (random.length < randomLength) {
    for (const byte of randomBytes(randomLength + 4)) {
      if (byte < unbiasedBytes && random.length < randomLength) random += alphabet[byte % alphabet.length];
    }
  }
  return prefix + random + checksum(prefix + random);
}

/** Whether `token`, which starts with one of our prefixes, has the form and the checksum of a token that we issued. */
export function isIntact(token: string): boolean {
  const prefix = Object.values(tokenPrefixes).find((each) => token.startsWith(each)) ?? '';
  const hasLength = token.length === prefix.length + randomLength + checksumLength;
  return (
    hasLength && /^[0-9A-Za-z]+$/.test(token.slice(prefix.length)) && token.endsWith(checksum(token.slice(0, -checksumLength)))
  );
}

/**
 * Whether a user group token may exist, without querying the database. Tokens of imported groups have any form, so only one
 * with our prefix can be known to be invalid.
 */
export function mayBeUserGroupToken(token: string): boolean {
  return token.startsWith(tokenPrefixes.userGroup) ? isIntact(token) : /^\P{C}{16,255}$/u.test(token);
}

/** Why a string cannot be an API token, as the end of a sentence that begins with its name; nothing if it can be one. */
export function apiTokenProblem(secret: string): string | undefined {
  const mistaken = otherSecrets.find(([prefix]) => secret.startsWith(prefix));
  if (mistaken) return `is ${mistaken[1]}, not a credential; use an API token (${tokenPrefixes.apiToken}…)`;
  if (/^(?:["']|token=)/i.test(secret)) return 'is not sent plainly; send it without quotes and without token=';
  if (!/^[\x21-\x7e]{16,255}$/.test(secret)) return 'must have 16 to 255 printable ASCII characters and no spaces';
  if (secret.startsWith(tokenPrefixes.apiToken) && !isIntact(secret))
    return 'is mistyped or truncated: its checksum does not match';
  return undefined;
}

/** What may be sent by mistake, by how it begins. */
const otherSecrets = [
  [tokenPrefixes.userGroup, 'a user group token'],
  ['eyJ', 'an embed token'],
  ['whsec_', 'the secret of a webhook'],
] as const;

/** What is stored of an API token: the SHA-256 of its secret, in hexadecimal. Enough for a secret that is random. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Whether a text contains something that looks like a token or the secret of a webhook, and so must not be repeated. */
export function containsToken(text: string): boolean {
  return [...Object.values(tokenPrefixes), 'whsec_'].some((prefix) => text.includes(prefix));
}

/** The text with the secret part of every token, and of the secrets of webhooks, replaced. */
export function redactTokens(text: string): string {
  let redacted = text;
  for (const prefix of Object.values(tokenPrefixes)) {
    const [before = '', ...parts] = redacted.split(prefix);
    redacted = [before, ...parts.map((part) => part.replace(/^[0-9A-Za-z]+/, '…'))].join(prefix);
  }
  // Last: its base64 may run into what follows it.
  return redacted.replace(/whsec_[0-9A-Za-z+/]+=*/g, 'whsec_…');
}

/** Base62 of the CRC32, big-endian, padded to six characters. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i += 1) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
