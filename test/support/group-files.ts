import { Readable } from 'node:stream';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { exportGroups, type FileFormat, type RejectedLine, readGroups } from '../../src/user-groups/files.ts';
import { type ImportSummary, importUserGroups } from '../../src/user-groups/import.ts';
import type { TestDatabase } from './database.ts';
import { testKeys } from './keys.ts';
import { contextOn } from './queries.ts';

interface Options {
  readonly format?: FileFormat;
  readonly environment?: EnvironmentTag | null;
  readonly onExisting?: 'skip' | 'update' | 'fail';
}

/** Imports a text as `groups import` does, by the functions that it calls. */
export async function importText(
  database: TestDatabase,
  text: string,
  { format = 'ndjson', environment, onExisting = 'skip' }: Options = {},
): Promise<ImportSummary & { readonly reasons: readonly RejectedLine[] }> {
  const reasons: RejectedLine[] = [];
  let result: ImportSummary | undefined;
  await importUserGroups(contextOn(database), readGroups(Readable.from([Buffer.from(text)]), format, environment), {
    onExisting,
    dryRun: false,
    signal: new AbortController().signal,
    onBatch: (summary, rejected) => {
      result = summary;
      reasons.push(...rejected);
    },
  });
  if (!result) throw new Error('The text has no lines.');
  return { ...result, reasons };
}

/** Exports the groups of a database as a text, as `groups export` does. */
export async function exportText(
  database: TestDatabase,
  format: FileFormat,
  environment?: EnvironmentTag | null,
): Promise<string> {
  let text = '';
  for await (const page of exportGroups(database, testKeys, format, environment)) text += page.text;
  return text;
}
