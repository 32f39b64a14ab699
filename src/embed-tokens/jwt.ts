import { createPrivateKey, type KeyObject } from 'node:crypto';
import { JOSEError, JWKSNoMatchingKey } from 'jose/errors';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';

/** The algorithm of embed tokens, RFC 8037: EdDSA with Ed25519. No other one is accepted. */
const algorithm = 'EdDSA';

/** A public key as verifiers get it (RFC 7517, RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** The key's 32 bytes in base64url. */
  readonly x: string;
  readonly kid: string;
  readonly alg: typeof algorithm;
  readonly use: 'sig';
}

/** A new key pair. */
export interface KeyPair {
  /** The thumbprint of the public key (RFC 7638). */
  readonly id: string;
  readonly publicKey: Buffer;
  /** The private key's 32 bytes in base64url. */
  readonly privateKey: string;
}

/** The public key as a JWK. */
export function toPublicJwk(id: string, publicKey: Buffer): PublicJwk {
  return { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url'), kid: id, alg: algorithm, use: 'sig' };
}

/** Generates a key pair. */
export async function createKeyPair(): Promise<KeyPair> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const { x = '', d = '' } = jwk;
  return { id: await calculateJwkThumbprint(jwk), publicKey: Buffer.from(x, 'base64url'), privateKey: d };
}

/** Reads a private key. */
export function readPrivateKey({ id, publicKey, privateKey }: KeyPair): KeyObject {
  return createPrivateKey({ key: { ...toPublicJwk(id, publicKey), d: privateKey }, format: 'jwk' });
}

/** Signs claims as a compact JWT. */
export function signJwt(claims: Readonly<Record<string, unknown>>, kid: string, privateKey: KeyObject): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' }).sign(privateKey);
}

/**
 * The claims of a compact JWT that one of these keys has signed and that is valid at this time; undefined for any other text.
 *
 * @param now the time that `exp` and `nbf` are compared with, without tolerance: it is the clock that they are from.
 */
export async function verifyJwt(
  token: string,
  keys: ReadonlyMap<string, PublicJwk>,
  now: Date,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!hasCanonicalSignature(token)) return undefined;
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : keys.get(kid);
        if (!key) throw new JWKSNoMatchingKey();
        return key;
      },
      { algorithms: [algorithm], typ: 'JWT', currentDate: now, requiredClaims: ['iss', 'sub', 'iat', 'nbf', 'exp', 'jti'] },
    );
    return payload;
  } catch (error) {
    if (error instanceof JOSEError) return undefined;
    throw error;
  }
}

/**
 * Whether the signature is spelled as it is encoded. Decoding ignores the last bits of its last character: a token would have
 * other texts that are valid too, which a list of rejected tokens does not have.
 */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
