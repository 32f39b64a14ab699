import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  apiTokenNameIssues,
  createApiToken,
  type IssuedApiToken,
  maxApiTokenRateLimit,
  rateLimitIssues,
} from '../api-tokens/api-tokens.ts';
import type { ApiToken, EnvironmentTag } from '../generated/prisma/client.ts';
import { describeScope, isScope, type Scope, scopeNames } from '../scopes.ts';
import { escapeControls, escapeJson } from '../terminal-text.ts';
import { ownContext, withDatabase } from './context.ts';
import {
  assertValid,
  environmentChoices,
  environmentOf,
  environments,
  type OutputStreams,
  type ReadOptions,
  readDurationMs,
  readOnlyOptions,
  requireKnown,
  type Streams,
  UsageError,
} from './options.ts';
import { assertOutput, describeTimes, printSecret, secretNotIssued } from './output.ts';

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
  const limit = rateLimit === null ? [] : [`${rateLimit} requests in 60 s`];
  const parts = [
    environmentTag ?? 'no environment',
    scopes.join(' '),
    ...(enabled ? [] : ['disabled']),
    ...limit,
    ...describeTimes(times),
  ];
  return [`#${id}  ${escapeControls(name)}`, ...parts].join('  ·  ');
}

/**
 * Prints an API token with its secret, as text or as one JSON object. A secret that cannot be written is lost, which is said.
 *
 * @returns the exit status.
 */
export function printIssued(io: OutputStreams, { secret, apiToken }: IssuedApiToken, asJson: boolean): Promise<number> {
  const { id, name, environmentTag, scopes, expiresAt } = apiToken;
  const members = { id, token: secret, name, environment: environmentTag, scopes, expiresAt };
  const text = `${describeApiToken(apiToken)}\n\nThe API token (shown only once):\n\n  ${secret}\n`;
  return printSecret(io, asJson ? escapeJson(JSON.stringify(members)) : text, (reason) => describeLostSecret(id, reason));
}

/** Says that the secret of an API token is lost, and what to do. @param reason why standard output cannot be written. */
export const describeLostSecret = (id: number, reason: string): string =>
  `The secret of the API token #${id} was not shown, because the output cannot be written (${reason}), and is not stored. ` +
  `Run \`token rotate ${id}\` to get another one.`;

/**
 * `token create`: issues an API token and prints its secret.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function createToken(args: readonly string[], { stdin, stdout, stderr }: Streams): Promise<number> {
  // The prompt goes to the standard error stream, so that the result can be piped.
  const canPrompt = Boolean(stdin.isTTY && stderr.isTTY);
  const { lifetimeMs, json, environment, ...given } = readRequest(args, canPrompt);
  assertOutput(stdout, secretNotIssued);
  const environmentTag = environment === undefined ? await askEnvironment(stdin, stderr) : environment;
  return withDatabase(async (command) => {
    const expiresInSeconds = lifetimeMs === undefined ? null : lifetimeMs / 1_000;
    const request = { ...given, environmentTag, expiresAt: null, expiresInSeconds };
    return printIssued({ stdout, stderr }, await createApiToken(ownContext(command), request), json);
  });
}

/** Without an environment, it is to be prompted for; without a lifetime, the API token is valid forever. */
function readRequest(args: readonly string[], canPrompt: boolean) {
  const kinds = {
    name: 'value',
    environment: 'value',
    scope: 'values',
    'expires-in': 'value',
    'rate-limit': 'value',
    json: 'flag',
  } as const;
  const options = readOnlyOptions(args, kinds);
  const { given, problems } = options;
  if (!given.has('name')) problems.push('--name is required: what the API token is for.');
  const name = readName(options) ?? '';
  if (!given.has('environment') && !canPrompt) problems.push(`--environment is required: ${environmentChoices}.`);
  const environment = environmentOf(options);
  requireKnown(options, 'scope', scopeNames);
  const scopes = given.get('scope')?.filter(isScope) ?? defaultScopes;
  const [expiresIn] = given.get('expires-in') ?? [];
  const lifetimeMs = expiresIn === undefined ? undefined : readDurationMs(expiresIn);
  if (expiresIn !== undefined && lifetimeMs === undefined)
    problems.push(`--expires-in must be a number and a unit, such as 30m, 12h, 90d or 52w, not ${JSON.stringify(expiresIn)}.`);
  const rateLimit = readRateLimit(options) ?? null;
  assertValid(problems, 'token create; no API token was created', tokenHelp);
  return { name, environment, scopes, lifetimeMs, rateLimit, json: given.has('json') };
}

/** Reads `--name`, and adds what is wrong with it. @returns undefined where it is not given. */
export function readName({ given, problems }: ReadOptions): string | undefined {
  const [name] = given.get('name') ?? [];
  if (name !== undefined) problems.push(...apiTokenNameIssues(name).map(({ message }) => `--name ${message}`));
  return name;
}

/** Reads `--rate-limit`, and adds what is wrong with it. @returns undefined where it is not given, null for `none`. */
export function readRateLimit({ given, problems }: ReadOptions): number | null | undefined {
  const [text] = given.get('rate-limit') ?? [];
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (rateLimitIssues(value).length > 0)
    problems.push(`--rate-limit must be a whole number from 1 to ${maxApiTokenRateLimit}, or none, not ${JSON.stringify(text)}.`);
  return value;
}

const prompt = 'Environment (1 to 3, or its name): ';

const question = `Which environment should the API token have access to?

  1  Customer  groups of real customers
  2  Testing   groups for testing
  3  none      untagged groups, which belong to no environment

${prompt}`;

/**
 * Prompts for an environment until the input is one of the choices: a number, or a name in any case.
 *
 * @param output where the prompt goes; not standard output, which is for the result.
 * @returns null means untagged.
 * @throws UsageError when the input ends before a choice was made.
 */
export async function askEnvironment(input: Readable, output: Writable): Promise<EnvironmentTag | null> {
  const names = Object.keys(environments);
  output.write(question);
  // Without its own line editing: the terminal has it, and Ctrl-C ends the process as usual.
  const lines = createInterface({ input, terminal: false });
  try {
    for await (const line of lines) {
      const input = line.trim().toLowerCase();
      const chosen = names.find((name, index) => input === name.toLowerCase() || input === String(index + 1));
      if (chosen) return environments[chosen] ?? null;
      output.write(`Not a valid choice. ${prompt}`);
    }
  } finally {
    lines.close(); // leaving the loop does not, and an open input keeps the process running
  }
  output.write('\n');
  throw new UsageError(
    `No environment was chosen, so no API token was created. Pass one with --environment: ${environmentChoices}.`,
  );
}
