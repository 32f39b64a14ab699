/** The parts of a compact JWT, decoded but not verified. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** What the signature is of. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** A header, claims, and a signature of 64 bytes in the only spelling: the last character has four bits that mean nothing. */
const compact = /^([\w-]+)\.([\w-]+)\.([\w-]{85}[AQgw])$/;

/** Decodes a compact JWT with a signature of Ed25519; undefined for anything else. */
export function readJwt(token: unknown): Jwt | undefined {
  if (typeof token !== 'string' || token.length > 100_000) return undefined; // none is that long
  const [, header = '', claims = '', signature = ''] = compact.exec(token) ?? [];
  try {
    return {
      header: readObject(header),
      claims: readObject(claims),
      signed: new TextEncoder().encode(`${header}.${claims}`),
      signature: decodeBase64(signature),
    };
  } catch {
    return undefined;
  }
}

/** @throws SyntaxError, TypeError when it is no JSON object. */
function readObject(part: string): Record<string, unknown> {
  const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64(part)));
  if (typeof value !== 'object' || value === null) throw new TypeError('no object');
  return value;
}

/** The bytes of a text in base64 or base64url. @throws DOMException when it is neither. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
