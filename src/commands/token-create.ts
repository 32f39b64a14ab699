import type { Readable, Writable } from 'node:stream';
import {
  apiTokenNameIssues,
  type IssuedApiToken,
  issueApiToken,
  maxApiTokenRateLimit,
  rateLimitIssues,
} from '../api-tokens/api-tokens.ts';
import { readServerTime } from '../database/server-state.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { describeScope, isScope, type Scope, scopeNames } from '../scopes.ts';
import { escapeControls, escapeJson } from '../terminal-text.ts';
import { askEnvironment, type EnvironmentName, environmentChoices, isEnvironmentName } from './ask-environment.ts';
import { ownAuthor, withDatabase } from './context.ts';
import { readDurationMs, readOptions, UsageError } from './options.ts';
import { printSecret } from './print-secret.ts';

/** The default scopes of an API token. */
const defaultScopes: readonly Scope[] = ['groups:read', 'groups:write'];

const widestScope = Math.max(...scopeNames.map(({ length }) => length));
const scopeLines = scopeNames.map((scope) => `  ${scope.padEnd(widestScope)}  ${describeScope(scope)}`);

/** What `token --help` prints. */
export const tokenHelp = `Usage:
  user-group-gateway token create --name N --environment Customer|Testing|none [--scope S]... [--expires-in 90d]
                                  [--rate-limit N] [--json]
  user-group-gateway token list [--json]
  user-group-gateway token rotate ID [--overlap 1h] [--json]
  user-group-gateway token update ID [--name N] [--rate-limit N|none] [--enable | --disable] [--json]
  user-group-gateway token revoke ID

create and rotate print the secret once; only its hash is stored. update changes what is given.
  --name         what the API token is for
  --environment  the environment it has access to; none means untagged groups. On a terminal, prompted for if omitted
  --scope        what it allows; may be repeated (default: ${defaultScopes.join(' ')})
  --expires-in   a number and a unit: 30m, 12h, 90d, 52w (default: never)
  --rate-limit   how many requests may be sent with it in 60 seconds: 1 to ${maxApiTokenRateLimit} (default: none; the setting RATE_LIMIT)
  --disable      rejects it from the next request on, until --enable; revoke is permanent
  --overlap      how long the replaced secret stays accepted, at most 7d (default: 0; it, and any replaced earlier, stop at once)
  --json         one JSON object instead of text

Scopes:
${scopeLines.join('\n')}
`;

/** An API token as a line of text, without its secret. */
export function describeApiToken(apiToken: ApiToken): string {
  const { id, name, environmentTag, scopes, createdAt, expiresAt, lastUsedAt, revokedAt, enabled, rateLimit } = apiToken;
  const times = { created: createdAt, expires: expiresAt, 'last used': lastUsedAt, revoked: revokedAt };
  const known = Object.entries(times).flatMap(([what, when]) => (when ? [`${what} ${when.toISOString()}`] : []));
  const limit = rateLimit === null ? [] : [`${rateLimit} requests in 60 s`];
  const parts = [environmentTag ?? 'no environment', scopes.join(' '), ...(enabled ? [] : ['disabled']), ...limit, ...known];
  return [`#${id}  ${escapeControls(name)}`, ...parts].join('  ·  ');
}

/**
 * Prints an API token with its secret, as text or as one JSON object. A secret that cannot be written is lost, which is said.
 *
 * @returns the exit status.
 */
export function printIssued(
  io: { readonly stdout: Writable; readonly stderr: Writable },
  { secret, apiToken }: IssuedApiToken,
  asJson: boolean,
): Promise<number> {
  const { id, name, environmentTag, scopes, expiresAt } = apiToken;
  const members = { id, token: secret, name, environment: environmentTag, scopes, expiresAt };
  const text = `${describeApiToken(apiToken)}\n\nThe API token (shown only once):\n\n  ${secret}\n`;
  return printSecret(
    io,
    asJson ? escapeJson(JSON.stringify(members)) : text,
    (reason) =>
      `The secret of the API token #${id} was not shown, because the output cannot be written (${reason}), and is not stored. ` +
      `Run \`token rotate ${id}\` to get another one.`,
  );
}

/** The streams of `token`: for input, for the result, and for prompts. */
export interface TokenIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** The options of `token create`. */
interface CreateRequest {
  readonly name: string;
  /** `undefined` means: prompt for it. */
  readonly environment: EnvironmentName | undefined;
  readonly scopes: readonly Scope[];
  /** How long the API token is valid; none means forever. */
  readonly lifetimeMs: number | undefined;
  readonly rateLimit: number | null;
  readonly json: boolean;
}

/**
 * `token create`: issues an API token and prints its secret.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function createToken(args: readonly string[], { stdin, stdout, stderr }: TokenIo): Promise<number> {
  // The prompt goes to the standard error stream, so that the result can be piped.
  const canPrompt = Boolean(stdin.isTTY && stderr.isTTY);
  const { name, scopes, lifetimeMs, rateLimit, json, environment: given } = readRequest(args, canPrompt);
  const environment = given ?? (await askEnvironment(stdin, stderr));

  const environmentTag = environment === 'none' ? null : environment;
  return withDatabase(async ({ database }) => {
    const expiresAt = lifetimeMs === undefined ? null : new Date((await readServerTime(database)) + lifetimeMs);
    const request = { name, environmentTag, scopes, expiresAt, rateLimit };
    return printIssued({ stdout, stderr }, await issueApiToken(database.prisma, request, ownAuthor()), json);
  });
}

function readRequest(args: readonly string[], canPrompt: boolean): CreateRequest {
  const { given, words, problems } = readOptions(args, {
    name: 'value',
    environment: 'value',
    scope: 'values',
    'expires-in': 'value',
    'rate-limit': 'value',
    json: 'flag',
  });
  const [name] = given.get('name') ?? [];
  const [environment] = given.get('environment') ?? [];
  const [expiresIn] = given.get('expires-in') ?? [];
  const rateLimit = readRateLimit(given);
  const scopes = given.get('scope') ?? defaultScopes;
  const lifetimeMs = expiresIn === undefined ? undefined : readDurationMs(expiresIn);
  const valid = environment !== undefined && isEnvironmentName(environment) ? environment : undefined;

  const all = [
    ...words.map((word) => `Unexpected argument ${JSON.stringify(word)}.`),
    ...problems,
    ...(given.has('name') ? [] : ['--name is required: what the API token is for.']),
    ...(name === undefined ? [] : apiTokenNameIssues(name).map(({ message }) => `--name ${message}`)),
    ...(given.has('environment') || canPrompt ? [] : [`--environment is required: ${environmentChoices}.`]),
    ...(environment === undefined || valid
      ? []
      : [`--environment must be ${environmentChoices}, not ${JSON.stringify(environment)}.`]),
    ...scopes
      .filter((scope) => !isScope(scope))
      .map((scope) => `--scope must be one of ${scopeNames.join(', ')}, not ${JSON.stringify(scope)}.`),
    ...(expiresIn === undefined || lifetimeMs !== undefined
      ? []
      : [`--expires-in must be a number and a unit, such as 30m, 12h, 90d or 52w, not ${JSON.stringify(expiresIn)}.`]),
    ...rateLimit.problems,
  ];
  if (all.length > 0 || name === undefined) {
    throw new UsageError(
      `Invalid arguments for token create; no API token was created.\n${all.map((line) => `  ${line}\n`).join('')}\n${tokenHelp}`,
    );
  }
  const rate = rateLimit.value ?? null;
  return { name, environment: valid, scopes: scopes.filter(isScope), lifetimeMs, rateLimit: rate, json: given.has('json') };
}

/**
 * Reads `--rate-limit`.
 *
 * @returns `value` is undefined where it is not given, and null for `none`.
 */
export function readRateLimit(given: ReadonlyMap<string, readonly string[]>): {
  readonly value: number | null | undefined;
  readonly problems: readonly string[];
} {
  const [text] = given.get('rate-limit') ?? [];
  if (text === undefined) return { value: undefined, problems: [] };
  if (text === 'none') return { value: null, problems: [] };
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  const problem = `--rate-limit must be a whole number from 1 to ${maxApiTokenRateLimit}, or none, not ${JSON.stringify(text)}.`;
  return { value, problems: rateLimitIssues(value).length > 0 ? [problem] : [] };
}
