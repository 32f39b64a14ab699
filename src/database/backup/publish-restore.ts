import { existsSync } from 'node:fs';
import { link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from '../embedded/layout.ts';
import { syncFolder } from './copy-file.ts';

/** Creates the folder of a restore. @throws Error when another restore has it. */
export async function claim(folder: string): Promise<void> {
  await mkdir(folder).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
    throw new Error(`${folder} exists: another restore is writing to it, or was killed. If none is, delete it.`, { cause });
  });
}

/**
 * Gives what was restored its names. Replaces nothing.
 *
 * @param placed receives each file that is in place, also when this fails.
 * @throws Error when a gateway has been started in the folder in the meantime.
 */
export async function publish(draft: Layout, layout: Layout, secretFiles: readonly string[], placed: string[]): Promise<void> {
  try {
    for (const name of secretFiles) {
      if (!existsSync(join(draft.dataDir, name))) continue;
      const file = join(layout.dataDir, name);
      await link(join(draft.dataDir, name), file); // unlike a rename, fails if there is one
      placed.push(file);
    }
    await rename(draft.cluster, layout.cluster);
  } catch (cause) {
    if (!['EEXIST', 'ENOTEMPTY'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
    const text = `${layout.dataDir} was used by a gateway during the restore, and a restore never replaces anything. Stop the gateway, and restore into a new folder.`;
    throw new Error(text, { cause });
  }
  for (const folder of new Set([layout.home, layout.dataDir])) await syncFolder(folder);
}

/** Removes the temporary files of a restore next to its result. Never rejects. @returns the folders that could not be removed. */
export async function removeDraft(draft: Layout): Promise<string[]> {
  const folders = [...new Set([draft.dataDir, draft.home])];
  const results = await Promise.allSettled(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 })));
  return folders.filter((_, index) => results[index]?.status === 'rejected');
}
