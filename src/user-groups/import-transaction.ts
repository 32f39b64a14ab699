import type { Database } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { findKeyIdsOfTokens, findKeysOfLiveTokens } from '../key-rotation/statements.ts';
import { configureImport } from './statements/import.ts';

/** Another transaction has changed what the batch was planned by, too late to plan it again: it is repeated. */
export class ChangedMeanwhile extends Error {}

/**
 * Begins a transaction of an import, with the keys as they are now: they may be rotated during a long import.
 *
 * @throws ChangedMeanwhile when a key was added while it waited for other imports.
 */
export async function beginImport(query: Database['query'], keys: KeyRing, dryRun: boolean): Promise<void> {
  const hasOneKey = () => {
    keys.refresh();
    return keys.ids.length === 1;
  };
  const lock = hasOneKey() ? 'shared' : 'exclusive';
  await configureImport(query, dryRun ? 'none' : lock);
  // Again, because it may have waited.
  if (!hasOneKey() && lock === 'shared') throw new ChangedMeanwhile();
}

/**
 * Checks that the tokens of the lines were compared with all that are stored. At the end of a transaction: a gateway may have
 * begun to use another key during it.
 *
 * @param ids of the keys under which they were looked up.
 * @throws ChangedMeanwhile when there is a further key, which can be read now.
 * @throws Error when tokens that still identify a group are stored under a key that this process lacks.
 */
export async function requireKeysOfStoredTokens(query: Database['query'], keys: KeyRing, ids: readonly string[]): Promise<void> {
  const others = (await findKeyIdsOfTokens({ query })).filter((id) => !ids.includes(id));
  const [other] = others.length > 0 ? await findKeysOfLiveTokens({ query }, others) : [];
  if (other === undefined) return;
  if (keys.has(other)) throw new ChangedMeanwhile();
  throw new Error(
    `Tokens are stored under the encryption key ${other}, which this command lacks, and the lines may have one of them. ` +
      'Add the key (the command doctor says where it belongs), then run the import again.',
  );
}
