import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from '../embedded/binaries.ts';
import { runInitdb } from '../embedded/cluster.ts';
import type { Layout } from '../embedded/layout.ts';
import { syncFolder } from './copy-file.ts';
import { clusterFolder } from './create-backup.ts';
import type { Manifest } from './manifest.ts';

/** The files of a data directory with PostgreSQL's settings, which can run programs, and with who may connect. */
const configurationFiles = ['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf'];

/**
 * Replaces the configuration in the copy of a backup with that of a new data directory.
 *
 * @returns the names of the files of the backup that have another content.
 * @throws Error when `initdb` fails.
 */
export async function renewConfiguration({ files }: Manifest, layout: Layout, binaries: Binaries): Promise<string[]> {
  const fresh = `${layout.cluster}.new`;
  const replaced: string[] = [];
  try {
    await runInitdb(layout, binaries, fresh, randomUUID()); // initdb requires a password; none is kept
    for (const name of configurationFiles) {
      const content = await readFile(join(fresh, name));
      const given = files.find(({ path }) => path === `${clusterFolder}/${name}`);
      if (given && given.sha256 !== createHash('sha256').update(content).digest('hex')) replaced.push(name);
      await rename(join(fresh, name), join(layout.cluster, name));
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  await syncFolder(layout.cluster);
  return replaced;
}
