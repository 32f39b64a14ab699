import type { Readable, Writable } from 'node:stream';
import { readServerTime } from '../database/queries/server-state.ts';
import { apiTokenNameIssues } from '../domain/api-token-input.ts';
import { issueApiToken } from '../domain/api-tokens.ts';
import { isScope, type Scope, scopeNames } from '../domain/caller.ts';
import { askEnvironment, type EnvironmentName, environmentChoices, isEnvironmentName } from './ask-environment.ts';
import { ownAuthor } from './command-author.ts';
import { withDatabase } from './context.ts';
import { readDurationMs } from './duration.ts';
import { readOptions } from './options.ts';
import { defaultScopes, printIssued, tokenHelp } from './token-text.ts';
import { UsageError } from './usage-error.ts';

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
  const { name, scopes, lifetimeMs, json, environment: given } = readRequest(args, canPrompt);
  const environment = given ?? (await askEnvironment(stdin, stderr));

  const environmentTag = environment === 'none' ? null : environment;
  return withDatabase(async ({ database }) => {
    const expiresAt = lifetimeMs === undefined ? null : new Date((await readServerTime(database)) + lifetimeMs);
    const request = { name, environmentTag, scopes, expiresAt };
    return printIssued({ stdout, stderr }, await issueApiToken(database.prisma, request, ownAuthor()), json);
  });
}

function readRequest(args: readonly string[], canPrompt: boolean): CreateRequest {
  const { given, words, problems } = readOptions(args, {
    name: 'value',
    environment: 'value',
    scope: 'values',
    'expires-in': 'value',
    json: 'flag',
  });
  const [name] = given.get('name') ?? [];
  const [environment] = given.get('environment') ?? [];
  const [expiresIn] = given.get('expires-in') ?? [];
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
  ];
  if (all.length > 0 || name === undefined) {
    throw new UsageError(
      `Invalid arguments for token create; no API token was created.\n${all.map((line) => `  ${line}\n`).join('')}\n${tokenHelp}`,
    );
  }
  return { name, environment: valid, scopes: scopes.filter(isScope), lifetimeMs, json: given.has('json') };
}
