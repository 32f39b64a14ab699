import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createEmbedTokenVerifier,
  type EmbedTokenVerifierOptions,
  type Fetch,
  UserGroupGateway,
} from '../../client/src/index.ts';
import { verifyRemotely } from '../support/embed-tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let signer: UserGroupGateway;
beforeAll(async () => {
  gateway = await startGateway();
  const scopes = ['embed:sign' as const, 'groups:write' as const];
  signer = new UserGroupGateway({ url: gateway.url, apiToken: (await gateway.issue({ scopes })).secret });
  await signer.userGroups.getOrCreate({ providedId: 'acme', properties: { plan: 'gold' } });
});
afterAll(() => gateway.close());

const by = { providedId: 'acme' };
const audience = 'dashboards';
const ofGateway = (): EmbedTokenVerifierOptions => ({ url: gateway.url, environment: 'Testing', audience });

test('accepts what the gateway signs, and says what jose says', async () => {
  const { token } = await signer.embedTokens.create({ by, audience, includeProperties: true });
  const claims = await createEmbedTokenVerifier(ofGateway())(token);
  expect(claims).toEqual((await verifyRemotely(gateway.url, token)).payload);
  expect(claims).toMatchObject({ sub: 'acme', env: 'Testing', aud: audience, properties: { plan: 'gold' } });
  const named = { issuer: `${gateway.url}/testing`, jwks: `${gateway.url}/.well-known/jwks.json`, audience };
  expect(await createEmbedTokenVerifier(named)(token)).toEqual(claims);
});

/** A gateway of the test: its keys can be changed, and its tokens say anything. */
function createSigner() {
  const pairs = new Map<string, KeyPairKeyObjectResult>();
  const add = (kid: string) => void pairs.set(kid, generateKeyPairSync('ed25519'));
  add('first');
  const clock = { now: 1_800_000_000_000 };
  const seconds = () => clock.now / 1_000;
  const requests: number[] = [];
  const failing = { how: undefined as (() => Promise<Response>) | undefined };
  const fetch: Fetch = async () => {
    requests.push(clock.now);
    const keys = [...pairs].map(([kid, { publicKey }]) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
      alg: 'EdDSA',
      use: 'sig',
    }));
    return failing.how ? failing.how() : Response.json({ keys: [{ kty: 'RSA', kid: 'of another kind' }, ...keys] });
  };
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = (header: object = {}, claims: object = {}, key?: KeyObject): string => {
    const all = { alg: 'EdDSA', kid: 'first', typ: 'JWT', ...header };
    const given = {
      iss: 'https://gateway/testing',
      sub: 'acme',
      aud: audience,
      iat: seconds(),
      nbf: seconds(),
      exp: seconds() + 900,
    };
    const text = `${encode(all)}.${encode({ ...given, ...claims })}`;
    const privateKey = key ?? (pairs.get(all.kid) ?? pairs.get('first'))?.privateKey;
    return `${text}.${sign(null, Buffer.from(text), privateKey as KeyObject).toString('base64url')}`;
  };
  const verify = createEmbedTokenVerifier({
    url: 'https://gateway/',
    environment: 'Testing',
    audience,
    fetch,
    now: () => clock.now,
  });
  return {
    verify,
    signed,
    add,
    remove: (kid: string) => pairs.delete(kid),
    clock,
    requests,
    pairs,
    failing,
  };
}

test('rejects every token that is not as the gateway makes them, without a request where the header says so', async () => {
  const { verify, signed, requests, clock, pairs } = createSigner();
  const rejected = async (token: unknown, code = 'INVALID_EMBED_TOKEN') =>
    expect(await verify(token).catch((error: unknown) => error), String(token)).toMatchObject({ code });
  const seconds = clock.now / 1_000;
  const valid = signed();
  const [header, claims, signature = ''] = valid.split('.');
  for (const other of [{ alg: 'Ed25519' }, { typ: 'at+jwt' }, { kid: 5 }, { crit: ['b64'] }]) await rejected(signed(other));
  for (const text of [`${header}.${claims}.`, `${valid}.`, ` ${valid}`, `${valid}\n`, 5, {}]) await rejected(text);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const nextLast = alphabet[alphabet.indexOf(signature.at(-1) ?? '') + 1];
  await rejected(valid.slice(0, -1) + nextLast); // decodes to the same bytes
  expect(requests).toEqual([]);

  expect(await verify(valid)).toMatchObject({ sub: 'acme' });
  await rejected(`${header}.${Buffer.from('{"sub":"other"}').toString('base64url')}.${signature}`);
  await rejected(signed({}, {}, generateKeyPairSync('ed25519').privateKey));
  await rejected(signed({ kid: 'of nobody' }));
  for (const claim of [{ iss: 'https://gateway/customer' }, { aud: [audience] }, { aud: undefined }])
    await rejected(signed({}, claim));
  for (const nbf of ['never', undefined]) await rejected(signed({}, { nbf }));
  for (const exp of [seconds, 'never']) await rejected(signed({}, { exp }), 'EXPIRED_EMBED_TOKEN');
  expect(await verify(signed({}, { nbf: seconds + 30, exp: seconds + 1 }))).toMatchObject({ sub: 'acme' });

  // What it accepts, jose accepts; and what jose rejects, it rejects.
  const key = pairs.get('first')?.publicKey as KeyObject;
  const currentDate = new Date(clock.now);
  await jwtVerify(valid, key, { algorithms: ['EdDSA'], issuer: 'https://gateway/testing', audience, currentDate, typ: 'JWT' });
});
