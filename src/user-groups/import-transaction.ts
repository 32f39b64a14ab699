import type { Database } from '../database/client.ts';
import { type KeyRing, MissingKey } from '../encryption/keys.ts';
import { findKeyIdsOfTokens, findKeysOfLiveTokens } from '../key-rotation/statements.ts';
import { configureImport } from './statements/import.ts';

/** Another transaction has changed what the batch was planned by, too late to plan it again: it is repeated. */
export class ChangedMeanwhile extends Error {}

/**
 * Begins a transaction of an import, with the keys as they are now: they may be rotated during a long import.
 *
 * @throws ChangedMeanwhile when a key was added while it waited for other imports.
 * @throws MissingKey when tokens that still identify a group are stored under a key that this process lacks: a line may have one.
 */
export async function beginImport(query: Database['query'], keys: KeyRing, dryRun: boolean): Promise<void> {
  const hasOneKey = () => {
    keys.refresh();
    return keys.ids.length === 1;
  };
  const lock = hasOneKey() ? 'shared' : 'exclusive';
  await configureImport(query, dryRun ? 'none' : lock);
  const missing = (await findKeyIdsOfTokens({ query })).filter((id) => !keys.has(id));
  const [missed] = missing.length > 0 ? await findKeysOfLiveTokens({ query }, missing) : [];
  if (missed !== undefined) throw new MissingKey('user_group.token_hash', missed);
  // Again, because it may have waited.
  if (!hasOneKey() && lock === 'shared') throw new ChangedMeanwhile();
}
