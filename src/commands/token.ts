import { type Command, InvalidArgumentError } from 'commander';
import {
  createApiToken,
  type IssuedApiToken,
  maxApiTokenRateLimit,
  maxOverlapSeconds,
  revokeApiToken,
  rotateApiToken,
  updateApiToken,
} from '../api-tokens/api-tokens.ts';
import { UsageError } from '../errors.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { describeScope, type Scope, scopeNames } from '../scopes.ts';
import { escapeControls } from '../terminal-text.ts';
import { ownContext, withDatabase } from './context.ts';
import { environmentOption, environmentTagOf, parseId, parseNumber, parseSeconds, repeatedChoice } from './options.ts';
import { describeTimes, printResult } from './output.ts';

const defaultScopes: readonly Scope[] = ['groups:read', 'groups:write'];
const width = Math.max(...scopeNames.map(({ length }) => length));

/** `token create|list|rotate|update|revoke`: manages API tokens. Can be run while the server runs. */
export function define(token: Command): void {
  token
    .command('create')
    .description('create an API token, and print its secret once; only the hash is stored')
    .requiredOption('--name <name>', 'what the API token is for')
    .addOption(environmentOption('the environment that it has access to').makeOptionMandatory())
    .addOption(
      repeatedChoice('--scope <scope>', `what it allows; may be repeated (default: ${defaultScopes.join(' ')})`, scopeNames),
    )
    .option('--expires-in <time>', 'a number and a unit: 30m, 12h, 90d, 52w (default: never)', parseSeconds)
    .option('--rate-limit <n>', 'requests in 60 seconds (default: the setting RATE_LIMIT)', parseRateLimit)
    .option('--json', 'one JSON object instead of text')
    .action(create);
  token.command('list').description('list all API tokens').option('--json', 'JSON instead of text').action(list);
  token
    .command('rotate')
    .description('replace the secret of an API token, and print the new one once')
    .argument('<id>', 'its number', parseId)
    .option('--overlap <time>', 'how long earlier secrets stay accepted, at most 7d (default: 0)', parseOverlap, 0)
    .option('--json', 'one JSON object instead of text')
    .action(rotate);
  token
    .command('update')
    .description('change what is given')
    .argument('<id>', 'its number', parseId)
    .option('--name <name>', 'what the API token is for')
    .option('--rate-limit <n>', 'requests in 60 seconds; none for the setting RATE_LIMIT', parseRateLimit)
    .option('--enable', 'accept it again')
    .option('--disable', 'reject it from the next request on, until --enable')
    .option('--json', 'one JSON object instead of text')
    .action(update);
  token
    .command('revoke')
    .description('reject an API token forever, from the next request on')
    .argument('<id>', 'its number', parseId)
    .action((id: number) =>
      withDatabase('change', async (command) => printResult(false, {}, describe(await revokeApiToken(ownContext(command), id)))),
    );
  const scopes = scopeNames.map((scope) => `  ${scope.padEnd(width)}  ${describeScope(scope)}`);
  token.addHelpText('afterAll', `\nScopes:\n${scopes.join('\n')}`);
}

interface CreateOptions {
  name: string;
  environment: string;
  scope?: Scope[];
  expiresIn?: number;
  rateLimit?: number | 'none';
  json?: boolean;
}

function create({ name, environment, scope = [...defaultScopes], expiresIn, rateLimit, json }: CreateOptions): Promise<void> {
  const request = {
    name,
    environmentTag: environmentTagOf(environment),
    scopes: scope,
    expiresAt: null,
    expiresInSeconds: expiresIn,
    rateLimit: rateLimitOf(rateLimit),
  };
  return withDatabase('create', async (command) => printIssued(await createApiToken(ownContext(command), request), json));
}

function list({ json }: { json?: boolean }): Promise<void> {
  return withDatabase('read', async ({ database }) => {
    const apiTokens = await database.prisma.apiToken.findMany({ orderBy: { id: 'asc' } });
    const text = apiTokens.map(describe).join('\n') || 'No API tokens. Create one with `token create`.';
    printResult(json, apiTokens.map(withoutHash), text);
  });
}

function rotate(id: number, { overlap, json }: { overlap: number; json?: boolean }): Promise<void> {
  return withDatabase('change', async (command) => printIssued(await rotateApiToken(ownContext(command), id, overlap), json));
}

interface UpdateOptions {
  name?: string;
  rateLimit?: number | 'none';
  enable?: boolean;
  disable?: boolean;
  json?: boolean;
}

function update(id: number, { name, rateLimit, enable, disable, json }: UpdateOptions): Promise<void> {
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other.');
  if (name === undefined && rateLimit === undefined && !enable && !disable)
    throw new UsageError('token update needs --name, --rate-limit, --enable or --disable.');
  const changes = { name, rateLimit: rateLimitOf(rateLimit), enabled: enable ?? (disable ? false : undefined) };
  return withDatabase('change', async (command) => {
    const changed = await updateApiToken(ownContext(command), id, changes);
    printResult(json, withoutHash(changed), describe(changed));
  });
}

function printIssued({ secret, apiToken }: IssuedApiToken, json?: boolean): void {
  const { id, name, environmentTag, scopes, expiresAt } = apiToken;
  const members = { id, token: secret, name, environment: environmentTag, scopes, expiresAt };
  printResult(json, members, `${describe(apiToken)}\n\nThe API token (shown only once):\n\n  ${secret}\n`);
}

/** An API token as a line of text, without its secret. */
function describe({ id, name, environmentTag, scopes, enabled, rateLimit, ...apiToken }: ApiToken): string {
  const { createdAt, expiresAt, lastUsedAt, revokedAt } = apiToken;
  const times = { created: createdAt, expires: expiresAt, 'last used': lastUsedAt, revoked: revokedAt };
  const state = enabled ? [] : ['disabled'];
  const limit = rateLimit === null ? [] : [`${rateLimit} requests in 60 s`];
  const parts = [environmentTag ?? 'no environment', scopes.join(' '), ...state, ...limit, ...describeTimes(times)];
  return [`#${id}  ${escapeControls(name)}`, ...parts].join('  ·  ');
}

function withoutHash({ secretHash: _, environmentTag, ...rest }: ApiToken): object {
  return { ...rest, environment: environmentTag };
}

const parseRateLimit = (text: string): number | 'none' => (text === 'none' ? text : parseNumber(maxApiTokenRateLimit)(text));

const rateLimitOf = (given: number | 'none' | undefined): number | null | undefined => (given === 'none' ? null : given);

function parseOverlap(text: string): number {
  const seconds = text === '0' ? 0 : parseSeconds(text);
  if (seconds <= maxOverlapSeconds) return seconds;
  throw new InvalidArgumentError('It must be at most 7d.');
}
