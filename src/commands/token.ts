import {
  apiTokenNameIssues,
  listApiTokens,
  maxOverlapSeconds,
  revokeApiToken,
  rotateApiToken,
  updateApiToken,
} from '../api-tokens/api-tokens.ts';
import { createDb } from '../db.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { escapeJson } from '../terminal-text.ts';
import { ownAuthor, withExistingDatabase } from './context.ts';
import { asksForHelp, isRowNumber, readDurationMs, readOptions, UsageError } from './options.ts';
import { createToken, describeApiToken, printIssued, readRateLimit, type TokenIo, tokenHelp } from './token-create.ts';

/**
 * `token rotate`: replaces the secret of an API token and prints the new one.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function rotateToken(args: readonly string[], io: Pick<TokenIo, 'stdout' | 'stderr'>): Promise<number> {
  const { given, words, problems } = readOptions(args, { overlap: 'value', json: 'flag' });
  const [id = ''] = words;
  const [overlap] = given.get('overlap') ?? [];
  const overlapSeconds = overlap === undefined || overlap === '0' ? 0 : (readDurationMs(overlap) ?? Number.NaN) / 1_000;
  const all = [
    ...problems,
    ...(words.length === 1 && isRowNumber(id) ? [] : ['token rotate takes one numeric id; `token list` shows the ids.']),
    ...(overlapSeconds <= maxOverlapSeconds
      ? []
      : [`--overlap must be 0, or a number and a unit up to a week, such as 30s, 1h or 7d, not ${JSON.stringify(overlap)}.`]),
  ];
  if (all.length > 0) throw new UsageError(`${all.join('\n')}\nNo secret was replaced.`);
  return withExistingDatabase(async ({ database }) => {
    return printIssued(io, await rotateApiToken(createDb(database), Number(id), overlapSeconds, ownAuthor()), given.has('json'));
  });
}

/**
 * `token create|list|rotate|update|revoke`: manages API tokens. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export async function token([action, ...args]: string[], io: TokenIo = process): Promise<number> {
  if (asksForHelp([action, ...args])) {
    io.stdout.write(tokenHelp);
    return 0;
  }
  switch (action) {
    case 'create':
      return createToken(args, io);
    case 'list':
      return list(args, io);
    case 'rotate':
      return rotateToken(args, io);
    case 'update':
      return updateToken(args, io);
    case 'revoke':
      return revoke(args, io);
    default:
      throw new UsageError(`${action ? `Unknown command "token ${action}".` : 'No subcommand was given.'}\n\n${tokenHelp}`);
  }
}

async function list(args: readonly string[], { stdout }: TokenIo): Promise<number> {
  const { given, words, problems } = readOptions(args, { json: 'flag' });
  if (words.length + problems.length > 0) {
    throw new UsageError([...problems, 'token list accepts only --json.', '', tokenHelp].join('\n'));
  }
  return withExistingDatabase(async ({ database }) => {
    const apiTokens = await listApiTokens(database.prisma);
    const text = apiTokens.map(describeApiToken).join('\n') || 'No API tokens. Create one with `token create`.';
    stdout.write(`${given.has('json') ? escapeJson(JSON.stringify(apiTokens.map(withoutHash))) : text}\n`);
    return 0;
  });
}

/**
 * `token update`: changes the given properties of an API token and prints it.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
async function updateToken(args: readonly string[], { stdout }: TokenIo): Promise<number> {
  const kinds = { name: 'value', 'rate-limit': 'value', enable: 'flag', disable: 'flag', json: 'flag' } as const;
  const { given, words, problems } = readOptions(args, kinds);
  const [id = ''] = words;
  const [name] = given.get('name') ?? [];
  const { value: rateLimit, problems: rateLimitProblems } = readRateLimit(given);
  const isChange = ['name', 'rate-limit', 'enable', 'disable'].some((option) => given.has(option));
  const all = [
    ...problems,
    ...(words.length === 1 && isRowNumber(id) ? [] : ['token update takes one numeric id; `token list` shows the ids.']),
    ...(name === undefined ? [] : apiTokenNameIssues(name).map(({ message }) => `--name ${message}`)),
    ...rateLimitProblems,
    ...(given.has('enable') && given.has('disable') ? ['--enable and --disable exclude each other.'] : []),
    ...(isChange ? [] : ['token update needs --name, --rate-limit, --enable or --disable.']),
  ];
  if (all.length > 0) throw new UsageError(`${all.join('\n')}\nNothing was changed.`);
  const enabled = given.has('enable') || (given.has('disable') ? false : undefined);
  return withExistingDatabase(async ({ database }) => {
    const changed = await updateApiToken(database.prisma, Number(id), { name, rateLimit, enabled }, ownAuthor());
    stdout.write(`${given.has('json') ? escapeJson(JSON.stringify(withoutHash(changed))) : describeApiToken(changed)}\n`);
    return 0;
  });
}

async function revoke(args: readonly string[], { stdout }: TokenIo): Promise<number> {
  const { words, problems } = readOptions(args, {});
  const [id = ''] = words;
  if (problems.length > 0 || words.length !== 1 || !isRowNumber(id)) {
    throw new UsageError([...problems, 'token revoke takes one numeric id; `token list` shows the ids.'].join('\n'));
  }
  return withExistingDatabase(async ({ database }) => {
    stdout.write(`${describeApiToken(await revokeApiToken(database.prisma, Number(id), ownAuthor()))}\n`);
    return 0;
  });
}

function withoutHash({ secretHash: _, environmentTag, ...rest }: ApiToken): object {
  return { ...rest, environment: environmentTag };
}
