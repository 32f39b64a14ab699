import { Readable } from 'node:stream';
import type { KeyRing } from '../../src/encryption/keys.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { type FormatName, groupFormats, readGroupLines } from '../../src/user-groups/files/formats.ts';
import { type ImportOptions, type ImportSummary, importUserGroups } from '../../src/user-groups/import.ts';
import { exportUserGroups } from '../../src/user-groups/statements/export.ts';
import type { TestDatabase } from './database.ts';
import { testKeys } from './keys.ts';

/** How a test imports a text. */
interface Options extends Partial<Pick<ImportOptions, 'onExisting' | 'dryRun' | 'inEachTransaction'>> {
  readonly format?: FormatName;
  readonly environment?: EnvironmentTag | null;
  readonly keys?: KeyRing;
}

/** A rejected line, and why. */
interface Reason {
  readonly line: number;
  readonly reason: string;
}

/** What an import did: its counts, the rejected lines, and the fields that it ignored. */
interface Imported extends ImportSummary {
  readonly reasons: readonly Reason[];
  readonly ignored: readonly string[];
}

/** Imports a text as `groups import` does, by the functions that it calls. */
export async function importText(database: TestDatabase, text: string | Buffer, options: Options = {}): Promise<Imported> {
  const { format = 'ndjson', environment, keys = testKeys, onExisting = 'skip', dryRun = false, inEachTransaction } = options;
  const reasons: Reason[] = [];
  const ignored: string[] = [];
  const chunks = Readable.from([Buffer.from(text)]);
  const lines = readGroupLines(chunks, { format, environment, onIgnored: (name = 'further') => ignored.push(name) });
  const summary = await importUserGroups({ ...database, keys }, lines, {
    onExisting,
    dryRun,
    ...(inEachTransaction && { inEachTransaction }),
    onRejected: (lines) => void reasons.push(...lines.map(({ line, reason }) => ({ line, reason }))),
    onProgress: () => {},
  });
  return { ...summary, reasons, ignored };
}

/** Exports the groups of a database as a text, as `groups export` does. */
export async function exportText(
  { pool }: TestDatabase,
  format: FormatName,
  environment?: EnvironmentTag | null,
): Promise<string> {
  const { header, write } = groupFormats[format];
  let text = header;
  for await (const { groups } of exportUserGroups({ pool, keys: testKeys }, environment)) text += groups.map(write).join('');
  return text;
}
