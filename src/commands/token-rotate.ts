import { createDb } from '../database/queries/db.ts';
import { maxOverlapSeconds } from '../domain/api-token-input.ts';
import { rotateApiToken } from '../domain/api-tokens.ts';
import { ownAuthor } from './command-author.ts';
import { withExistingDatabase } from './context.ts';
import { readDurationMs } from './duration.ts';
import { readOptions } from './options.ts';
import type { TokenIo } from './token-create.ts';
import { isApiTokenId, printIssued } from './token-text.ts';
import { UsageError } from './usage-error.ts';

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
    ...(words.length === 1 && isApiTokenId(id) ? [] : ['token rotate takes one numeric id; `token list` shows the ids.']),
    ...(overlapSeconds <= maxOverlapSeconds
      ? []
      : [`--overlap must be 0, or a number and a unit up to a week, such as 30s, 1h or 7d, not ${JSON.stringify(overlap)}.`]),
  ];
  if (all.length > 0) throw new UsageError(`${all.join('\n')}\nNo secret was replaced.`);
  return withExistingDatabase(async ({ database }) => {
    return printIssued(io, await rotateApiToken(createDb(database), Number(id), overlapSeconds, ownAuthor()), given.has('json'));
  });
}
