import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../client.ts';
import { embeddedConnection } from './embedded.ts';
import { findLayout, type Layout } from './layout.ts';
import { passwordFile, readPassword } from './password.ts';
import { type Postmaster, runningPostmaster } from './server-lock.ts';

/** What there is of an embedded PostgreSQL, found without creating, starting or changing anything. */
export interface FoundEmbedded {
  readonly layout: Layout;
  /** The major version that created the data; undefined if there are none yet. */
  readonly major: string | undefined;
  /** The file with the password. */
  readonly passwordFile: string;
  /** The running server. */
  readonly server: Postmaster | undefined;
}

/** Looks for the embedded PostgreSQL of a `DATA_DIR`. @returns undefined if the folder does not exist. */
export function findEmbedded(dataDir: string): FoundEmbedded | undefined {
  const layout = findLayout(dataDir);
  if (!layout) return undefined;
  const version = join(layout.cluster, 'PG_VERSION');
  const major = existsSync(version) ? readFileSync(version, 'utf8').trim() : undefined;
  return { layout, major, passwordFile: passwordFile(layout), server: runningPostmaster(layout) };
}

/** How to connect to a server that was found; undefined if none runs. @throws Error when its password cannot be read. */
export function connectionTo({ layout, server }: FoundEmbedded, database: string): Connection | undefined {
  return server && embeddedConnection(server.port, readPassword(layout), database);
}
