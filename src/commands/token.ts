import { maxOverlapSeconds, revokeApiToken, rotateApiToken, updateApiToken } from '../api-tokens/api-tokens.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import { ownContext, withDatabaseToRead, withExistingDatabase } from './context.ts';
import {
  assertUnchanged,
  type OutputStreams,
  readDurationMs,
  readJsonFlag,
  readNumbered,
  runAction,
  type Streams,
} from './options.ts';
import { assertOutput, printResult, secretNotIssued } from './output.ts';
import { createToken, describeApiToken, printIssued, readName, readRateLimit, tokenHelp } from './token-create.ts';

/**
 * `token create|list|rotate|update|revoke`: manages API tokens. Can be run while the server runs.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 */
export const token = (args: string[], io: Streams): Promise<number> =>
  runAction('token', tokenHelp, { create: createToken, list, rotate, update, revoke }, args, io);

async function list(args: readonly string[], io: OutputStreams): Promise<number> {
  const asJson = readJsonFlag(args, 'token list', tokenHelp);
  return withDatabaseToRead(async ({ database }) => {
    const apiTokens = await database.prisma.apiToken.findMany({ orderBy: { id: 'asc' } });
    const text = apiTokens.map(describeApiToken).join('\n') || 'No API tokens. Create one with `token create`.';
    return printResult(io, asJson, apiTokens.map(withoutHash), text);
  });
}

/** `token rotate`: replaces the secret of an API token and prints the new one. */
async function rotate(args: readonly string[], io: OutputStreams): Promise<number> {
  const { id, given, problems } = readNumbered('token', 'rotate', args, { overlap: 'value', json: 'flag' });
  const [overlap] = given.get('overlap') ?? [];
  const overlapSeconds = overlap === undefined || overlap === '0' ? 0 : (readDurationMs(overlap) ?? Number.NaN) / 1_000;
  if (!(overlapSeconds <= maxOverlapSeconds))
    problems.push(
      `--overlap must be 0, or a number and a unit up to a week, such as 30s, 1h or 7d, not ${JSON.stringify(overlap)}.`,
    );
  assertUnchanged(problems);
  assertOutput(io.stdout, secretNotIssued);
  return withExistingDatabase(async (command) =>
    printIssued(io, await rotateApiToken(ownContext(command), id, overlapSeconds), given.has('json')),
  );
}

/** `token update`: changes the given properties of an API token and prints it. */
async function update(args: readonly string[], io: OutputStreams): Promise<number> {
  const kinds = { name: 'value', 'rate-limit': 'value', enable: 'flag', disable: 'flag', json: 'flag' } as const;
  const options = readNumbered('token', 'update', args, kinds);
  const { id, given, problems } = options;
  const name = readName(options);
  const rateLimit = readRateLimit(options);
  if (given.has('enable') && given.has('disable')) problems.push('--enable and --disable exclude each other.');
  if (!['name', 'rate-limit', 'enable', 'disable'].some((option) => given.has(option)))
    problems.push('token update needs --name, --rate-limit, --enable or --disable.');
  assertUnchanged(problems);
  const enabled = given.has('enable') || (given.has('disable') ? false : undefined);
  return withExistingDatabase(async (command) => {
    const changed = await updateApiToken(ownContext(command), id, { name, rateLimit, enabled });
    return printResult(io, given.has('json'), withoutHash(changed), describeApiToken(changed));
  });
}

async function revoke(args: readonly string[], { stdout }: OutputStreams): Promise<number> {
  const { id, problems } = readNumbered('token', 'revoke', args, {});
  assertUnchanged(problems);
  return withExistingDatabase(async (command) => {
    stdout.write(`${describeApiToken(await revokeApiToken(ownContext(command), id))}\n`);
    return 0;
  });
}

function withoutHash({ secretHash: _, environmentTag, ...rest }: ApiToken): object {
  return { ...rest, environment: environmentTag };
}
