import type { Connection } from '../client.ts';
import { embeddedConnection } from './embedded.ts';
import { findLayout, type Layout } from './layout.ts';
import { findPasswordFile, readPassword } from './password.ts';
import { isUsedElsewhere, type Postmaster, runningPostmaster } from './server-lock.ts';

/** What there is of an embedded PostgreSQL, found without creating, starting or changing anything. */
export interface FoundEmbedded {
  readonly layout: Layout;
  /** The file with the password. */
  readonly passwordFile: string;
  /** The running server. */
  readonly server: Postmaster | undefined;
  /** Whether another server runs, whose process is not visible here. */
  readonly isUsedElsewhere: boolean;
}

/** Looks for the embedded PostgreSQL of a `DATA_DIR`. @returns undefined if the folder does not exist. */
export async function findEmbedded(dataDir: string): Promise<FoundEmbedded | undefined> {
  const layout = findLayout(dataDir);
  if (!layout) return undefined;
  const server = runningPostmaster(layout);
  const isElsewhere = !server && (await isUsedElsewhere(layout));
  return { layout, passwordFile: findPasswordFile(layout), server, isUsedElsewhere: isElsewhere };
}

/** How to connect to a server that was found; undefined if none runs. @throws Error when its password cannot be read. */
export function connectionTo({ layout, server }: FoundEmbedded, database: string): Connection | undefined {
  return server && embeddedConnection(server.port, readPassword(layout), database);
}
