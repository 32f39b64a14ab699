import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type { Reply, TestGateway } from './gateway.ts';

const mutation = `mutation ($input: CreateEmbedTokenInput!) { result: createEmbedToken(input: $input) { __typename
  ... on CreateEmbedTokenPayload { token expiresAt }
  ... on Error { code message } ... on InvalidInput { issues { path message } } } }`;

/** What `createEmbedToken` returned. */
export interface EmbedTokenResult {
  readonly __typename: string;
  readonly token: string;
  readonly expiresAt: string;
  readonly code?: string;
  readonly message?: string;
  readonly issues?: { path: string[]; message: string }[];
}

/** Sends `createEmbedToken` with an API token. */
export async function createToken(gateway: TestGateway, token: string, input: object): Promise<EmbedTokenResult> {
  const { json } = await gateway.graphql(mutation, { input }, { token });
  if (json.errors) throw new Error(JSON.stringify(json.errors));
  return json.data.result;
}

/** Introspects a token with an API token, as OAuth clients do. */
export function introspectToken(gateway: TestGateway, apiToken: string | null, token: string): Promise<Reply> {
  return sendForm(gateway, apiToken, new URLSearchParams({ token }).toString());
}

/** Sends a form to the introspection endpoint. */
export function sendForm(
  gateway: TestGateway,
  token: string | null,
  body: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return gateway.send('POST', '/oauth2/introspect', { token, body, headers: { ...type, ...headers } });
}

/** Verifies a token as an embed backend does: with the published keys, fetched each time. */
export async function verifyRemotely(
  url: string,
  token: string,
  options: { issuer?: string; audience?: string } = {},
): Promise<{ payload: JWTPayload; header: object }> {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', url));
  const { payload, protectedHeader } = await jwtVerify(token, keys, { ...options, algorithms: ['EdDSA'] });
  return { payload, header: protectedHeader };
}

/** The ids of the published keys. */
export async function publishedKeys(gateway: TestGateway): Promise<string[]> {
  const { json } = await gateway.send('GET', '/.well-known/jwks.json', { token: null });
  return json.keys.map(({ kid }: { kid: string }) => kid);
}

/** The parts of a token, decoded without a check. */
export function partsOf(token: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header, claims] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') };
}
