import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PersistedOperations, readPersistedOperations } from '../../src/graphql/params.ts';
import { schema } from '../../src/schema.ts';

/** Reads persisted operations as a start does. @param files their contents by name; a folder has several. */
export async function readPersisted(
  files: Readonly<Record<string, string>>,
  settings: { readonly introspection?: boolean; readonly console?: boolean } = {},
): Promise<PersistedOperations | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-persisted-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const [only, ...more] = Object.keys(files);
    const persistedOperationsPath = only && more.length === 0 ? join(folder, only) : folder;
    return await readPersistedOperations({ introspection: true, console: false, ...settings, persistedOperationsPath }, schema);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
