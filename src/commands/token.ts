import { listApiTokens, revokeApiToken } from '../domain/api-tokens.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { escapeJson } from '../terminal-text.ts';
import { ownAuthor } from './command-author.ts';
import { withExistingDatabase } from './context.ts';
import { asksForHelp, readOptions } from './options.ts';
import { createToken, type TokenIo } from './token-create.ts';
import { rotateToken } from './token-rotate.ts';
import { describeApiToken, isApiTokenId, tokenHelp } from './token-text.ts';
import { UsageError } from './usage-error.ts';

/**
 * `token create|list|rotate|revoke`: manages API tokens. Can be run while the server runs.
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

async function revoke(args: readonly string[], { stdout }: TokenIo): Promise<number> {
  const { words, problems } = readOptions(args, {});
  const [id = ''] = words;
  if (problems.length > 0 || words.length !== 1 || !isApiTokenId(id)) {
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
