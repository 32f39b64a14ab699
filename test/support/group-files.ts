import { Readable } from 'node:stream';
import { type FormatName, groupFormats } from '../../src/commands/group-formats.ts';
import { readGroupLines } from '../../src/commands/group-lines.ts';
import type { KeyRing } from '../../src/domain/keys.ts';
import { exportUserGroups } from '../../src/domain/user-group-export.ts';
import { type ImportOptions, type ImportSummary, importUserGroups } from '../../src/domain/user-group-import.ts';
import type { RejectedLine } from '../../src/domain/user-group-import-line.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import type { TestDatabase } from './database.ts';
import { testKeys } from './keys.ts';

/** How a test imports a text. */
interface Options extends Partial<Pick<ImportOptions, 'onExisting' | 'dryRun' | 'inEachTransaction'>> {
  readonly format?: FormatName;
  readonly environment?: EnvironmentTag | null;
  readonly keys?: KeyRing;
}

/** What an import did: its counts, the rejected lines, and the fields that it ignored. */
interface Imported extends ImportSummary {
  readonly reasons: readonly RejectedLine[];
  readonly ignored: readonly string[];
}

/** Imports a text as `groups import` does, by the functions that it calls. */
export async function importText({ pool }: TestDatabase, text: string | Buffer, options: Options = {}): Promise<Imported> {
  const { format = 'ndjson', environment, keys = testKeys, onExisting = 'skip', dryRun = false, inEachTransaction } = options;
  const reasons: RejectedLine[] = [];
  const ignored: string[] = [];
  const chunks = Readable.from([Buffer.from(text)]);
  const lines = readGroupLines(chunks, { format, environment, onIgnored: (name) => ignored.push(name) });
  const summary = await importUserGroups({ pool, keys }, lines, {
    ...{ onExisting, dryRun },
    ...(inEachTransaction && { inEachTransaction }),
    onRejected: (line) => reasons.push(line),
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
