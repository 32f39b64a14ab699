import { createHmac, createPrivateKey, type JsonWebKeyInput, sign } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { type ScriptedResponse, type SeenRequest, startScriptedServer } from './scripted-server.ts';

/** One call of a case, and what the client must do. */
export interface ConformanceCall {
  readonly operation: string;
  // biome-ignore lint/suspicious/noExplicitAny: each operation has its own
  readonly arguments: any;
  readonly idempotencyKey?: string;
  /** The time on the client's clock, in seconds since 1970. */
  readonly at?: number;
  readonly expect: Outcome;
}

/** A case of `client/conformance`; its README describes the members. */
export interface ConformanceCase {
  readonly name: string;
  readonly requires?: readonly string[];
  readonly options?: {
    readonly path?: string;
    readonly userInfo?: string;
    readonly apiToken?: string;
    readonly timeoutMs?: number;
    readonly retries?: number;
    readonly verifier?: { readonly issuer: string; readonly jwks: string; readonly audience: string | null };
  };
  readonly calls: readonly ConformanceCall[];
  readonly responses?: readonly ScriptedResponse[];
  readonly requests: readonly ExpectedRequest[];
  readonly furtherRequests?: boolean;
}

interface ExpectedRequest {
  readonly method?: string;
  readonly path?: string;
  readonly field?: string;
  readonly arguments?: object;
  readonly absentArguments?: readonly string[];
  readonly form?: object;
  readonly idempotencyKey?: string | null;
  readonly headers?: object;
  readonly notBeforeMs?: number;
}

/** What a call came to: one of the first three members. */
export interface Outcome {
  readonly result?: unknown;
  readonly error?: object;
  /** The client refused the call as a mistake in the calling code. */
  readonly usageError?: boolean;
  readonly elapsedMs?: number;
}

/** A case with every option, as a runner gets it. */
export interface RunnableCase extends ConformanceCase {
  /** The gateway that the client is to call. */
  readonly url: string;
  readonly apiToken: string;
  readonly timeoutMs: number;
  readonly retries: number;
}

const folder = new URL('../../client/conformance/', import.meta.url);

/** The cases that apply to a client with these features. */
export function conformanceCases(features: readonly string[]): ConformanceCase[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const all = files.flatMap((name) => {
    const { values, jwt, cases } = JSON.parse(readFileSync(fileURLToPath(new URL(name, folder)), 'utf8'));
    return resolve(cases, values, jwt) as ConformanceCase[];
  });
  return all.filter(({ requires = [] }) => requires.every((feature) => features.includes(feature)));
}

type Values = Readonly<Record<string, unknown>>;

/** Replaces the names of values by the values, and makes tokens and long texts. */
function resolve(value: unknown, values: Values, jwt: Jwt): unknown {
  if (typeof value === 'string')
    return value.startsWith('$') && value.slice(1) in values ? resolve(values[value.slice(1)], values, jwt) : value;
  if (Array.isArray(value)) return value.map((item) => resolve(item, values, jwt));
  if (typeof value !== 'object' || value === null) return value;
  const resolved = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, values, jwt)]));
  if ('$repeat' in resolved) return String(resolved['$repeat']).repeat(resolved['times'] as number);
  return '$jwt' in resolved ? signJwt(jwt, resolved['$jwt'] as Partial<Jwt>) : resolved;
}

interface Jwt {
  readonly header: object;
  readonly claims: object;
  readonly key: (JsonWebKeyInput['key'] & { readonly x: string }) | null;
  readonly signature?: 'HS256';
}

/** A token that differs from a usual one in some members; null leaves one out. */
function signJwt(usual: Jwt, { header, claims, key = null, signature }: Partial<Jwt>): string {
  const encode = (part: object) => {
    const members = Object.entries(part).filter(([, value]) => value !== null);
    return Buffer.from(JSON.stringify(Object.fromEntries(members))).toString('base64url');
  };
  const text = `${encode({ ...usual.header, ...header })}.${encode({ ...usual.claims, ...claims })}`;
  if (!key) return `${text}.`;
  const bytes =
    signature === 'HS256'
      ? createHmac('sha256', Buffer.from(key.x, 'base64url')).update(text).digest()
      : sign(null, Buffer.from(text), createPrivateKey({ key, format: 'jwk' }));
  return `${text}.${bytes.toString('base64url')}`;
}

/** How much later than its limit a call may end, on a busy machine. */
const marginMs = 3_000;

/**
 * Has a client execute a case against a server that plays its script.
 *
 * @param run executes the calls one after the other, and returns the outcome of each. @throws when the client does anything else
 *   than the case says.
 */
export async function checkConformance(
  testCase: ConformanceCase,
  run: (testCase: RunnableCase) => Promise<readonly Outcome[]>,
): Promise<void> {
  const { options, responses = [], requests, furtherRequests = false } = testCase;
  const { path = '', userInfo = '', apiToken = 'ugk_conformance', timeoutMs = 20_000, retries = 3 } = options ?? {};
  const server = await startScriptedServer(responses);
  try {
    const text = JSON.stringify(testCase).replaceAll('{server}', server.url);
    const url = server.url.replace('//', `//${userInfo}`) + path;
    const outcomes = await run({ ...JSON.parse(text), url, apiToken, timeoutMs, retries });
    expect(outcomes).toHaveLength(testCase.calls.length);
    for (const [index, { elapsedMs, ...outcome }] of outcomes.entries()) {
      expect(outcome).toMatchObject(testCase.calls[index]?.expect ?? {});
      expect(elapsedMs).toBeLessThan(timeoutMs + marginMs);
    }
    const seen = furtherRequests ? server.requests.slice(0, requests.length) : server.requests;
    expect(seen.map(({ method, path: of, field }) => ({ method, path: of, field }))).toEqual(
      requests.map(({ method = 'POST', path: of = '/graphql', field }) => ({ method, path: of, field })),
    );
    const keys = new Map<string, unknown>();
    for (const [index, request] of seen.entries())
      checkRequest(requests[index] ?? {}, request, { apiToken, keys, previous: seen[index - 1] });
  } finally {
    await server.close();
  }
}

interface Context {
  readonly apiToken: string;
  /** The idempotency keys that were seen, by the names that the case gives them. */
  readonly keys: Map<string, unknown>;
  readonly previous: SeenRequest | undefined;
}

function checkRequest(expected: ExpectedRequest, seen: SeenRequest, { apiToken, keys, previous }: Context): void {
  // The public keys are fetched from anywhere: the API token must not go there.
  expect(seen.headers.authorization).toBe(seen.method === 'GET' ? undefined : `Token ${apiToken}`);
  expect(seen.problems).toEqual([]);
  if (expected.headers) expect(seen.headers).toMatchObject(expected.headers);
  if (expected.arguments) expect(seen.arguments).toMatchObject(expected.arguments);
  for (const name of expected.absentArguments ?? []) expect(seen.arguments?.input).not.toHaveProperty(name);
  if (expected.form) expect(Object.fromEntries(new URLSearchParams(seen.body))).toEqual(expected.form);
  if (expected.notBeforeMs) expect(seen.atMs - (previous?.atMs ?? 0)).toBeGreaterThanOrEqual(expected.notBeforeMs);

  const key = seen.headers['idempotency-key'];
  const { idempotencyKey: name } = expected;
  if (name === null) expect(key).toBeUndefined();
  if (typeof name !== 'string') return;
  expect(key).toMatch(/^"[^"]+"$/);
  if (!keys.has(name)) expect([...keys.values()]).not.toContain(key);
  expect(keys.get(name) ?? key).toBe(key);
  keys.set(name, key);
}
