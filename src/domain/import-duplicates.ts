import { hash, randomBytes } from 'node:crypto';
import type { Claim, ImportClaims } from '../database/queries/import-claims.ts';
import type { ImportLine, RejectedLine } from './user-group-import-line.ts';

/** What is hashed with ids and tokens, so that the hashes reveal nothing about them. It is never stored. */
const secret = randomBytes(32).toString('base64');

/** The first 16 bytes of a hash, in hexadecimal. */
const keyOf = (kind: string, value: string): string => hash('sha256', `${secret}${kind}\0${value}`).slice(0, 32);

/** The keys of what a line takes: its id, in each environment in which no other group may have it, and its token. */
function keysOf({ providedId, environmentTag, token }: ImportLine) {
  const ids = (environmentTag === null ? ['Customer', 'Testing'] : [environmentTag]).map((tag) => keyOf(tag, providedId));
  return { ids, tokens: token === undefined ? [] : [keyOf('token', token)] };
}

/** Moves the lines that repeat the id or the token of an earlier line of the import to those rejected. */
export async function rejectRepeated(
  claims: ImportClaims,
  batch: { lines: ImportLine[]; readonly rejected: RejectedLine[] },
): Promise<void> {
  const all = batch.lines.map((line) => ({ line, ...keysOf(line) }));
  const toClaims = ({ line: { line }, ids, tokens }: (typeof all)[number]) =>
    [...ids, ...tokens].map((key): Claim => ({ key, line }));
  const taken = await claims.take(all.flatMap(toClaims));
  if (taken.size === 0) return;

  batch.lines = all.flatMap(({ line, ids, tokens }) => {
    const earlier = (keys: readonly string[]) =>
      keys.map((key) => taken.get(key)).find((first) => first !== undefined && first !== line.line);
    const [sameId, sameToken] = [earlier(ids), earlier(tokens)];
    if (sameId === undefined && sameToken === undefined) return [line];
    const describe = (earlierLine: string) =>
      sameId === undefined
        ? `token: is the same as in ${earlierLine}.`
        : `user_group_id: is the same as in ${earlierLine}; only a Customer and a Testing group can share an id.`;
    const reason = describe(`line ${sameId ?? sameToken}`);
    batch.rejected.push({ line: line.line, reason, kind: describe('an earlier line') });
    return [];
  });
}
