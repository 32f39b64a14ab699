import type { Database, Sql } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import type { ImportLine, RejectedLine } from './import-lines.ts';
import { importBatch, rejectRepeated } from './import-lines.ts';
import type { OnExisting } from './import-plan.ts';
import { type WriteOutcome, writeLines } from './import-writes.ts';
import { openImportClaims } from './statements/import-claims.ts';

/** What became of the lines of an import; in a dry run, what would become of them. */
export interface ImportSummary {
  /** The lines, without empty ones. */
  lines: number;
  created: number;
  /** Groups that existed and were changed. */
  updated: number;
  /** Groups that existed and got another token in the place of theirs. */
  tokensReplaced: number;
  /** Groups that existed and were left as they were. */
  unchanged: number;
  rejected: number;
  /** How many of those created are untagged because neither their line nor the import names an environment. */
  untaggedByDefault: number;
  /** The last line whose outcome is certain. */
  lastLine: number;
}

/** A line as it was read, and its size in the file in bytes. */
export interface ReadLine {
  readonly read: ImportLine | RejectedLine;
  readonly bytes: number;
}

/** How to import. */
export interface ImportOptions {
  /** What happens to a group that exists: it is left as it is, changed to what the line gives, or the line is rejected. */
  readonly onExisting: OnExisting;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  /** Receives the rejected lines of each batch that has some, in order. The import waits for it. */
  readonly onRejected: (lines: readonly RejectedLine[]) => Promise<void> | void;
  /** Receives the summary of all lines so far, after each batch is committed. The same object each time. */
  readonly onProgress: (summary: Readonly<ImportSummary>) => void;
  /**
   * Runs at the end of each transaction that creates or changes groups, with what that transaction did: the place for what is
   * written about it, which then holds however the import ends. Runs again when the transaction is repeated.
   */
  readonly inEachTransaction?: (sql: Sql, outcome: WriteOutcome) => Promise<void>;
}

/**
 * Imports user groups, in batches of a transaction each, from lines in chunks of any size: gateways may run, and an import that
 * ended early can be run again. Reads further lines while a batch is written, and holds no more than two batches.
 *
 * @returns the summary that `onProgress` received.
 * @throws errors of the database; what earlier batches wrote stays.
 */
export async function importUserGroups(
  db: Pick<Database, 'pool' | 'transaction'> & { readonly keys: KeyRing },
  chunks: AsyncIterable<readonly ReadLine[]>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const summary: ImportSummary = {
    lines: 0,
    created: 0,
    updated: 0,
    tokensReplaced: 0,
    unchanged: 0,
    rejected: 0,
    untaggedByDefault: 0,
    lastLine: 0,
  };
  const write = async (batch: Batch) => {
    const outcome = await writeLines(db, batch.lines, options, async (sql, counts) => {
      if (counts.created + counts.updated > 0) await options.inEachTransaction?.(sql, counts);
    });
    add(summary, batch, outcome);
    const rejected = [...batch.rejected, ...outcome.rejected].sort((a, b) => a.line - b.line);
    if (rejected.length > 0) await options.onRejected(rejected);
    options.onProgress(summary);
  };

  const claims = await openImportClaims(db);
  let writing: Promise<void> | undefined;
  try {
    for await (const batch of inBatches(chunks)) {
      await rejectRepeated(claims, batch);
      await writing;
      writing = write(batch);
      writing.catch(() => {}); // thrown where it is awaited
    }
    await writing;
  } finally {
    await writing?.catch(() => {});
    await claims.close();
  }
  return summary;
}

/** Lines that are written together. */
interface Batch {
  lines: ImportLine[];
  readonly rejected: RejectedLine[];
  lastLine: number;
}

async function* inBatches(chunks: AsyncIterable<readonly ReadLine[]>): AsyncGenerator<Batch> {
  const empty = (): Batch => ({ lines: [], rejected: [], lastLine: 0 });
  let batch = empty();
  let size = 0;
  for await (const lines of chunks) {
    for (const { read, bytes } of lines) {
      const count = batch.lines.length + batch.rejected.length;
      if (count === importBatch.maxLines || (count > 0 && size + bytes > importBatch.maxBytes)) {
        yield batch;
        batch = empty();
        size = 0;
      }
      if ('reason' in read) batch.rejected.push(read);
      else batch.lines.push(read);
      batch.lastLine = read.line;
      size += bytes;
    }
  }
  if (batch.lastLine > 0) yield batch;
}

function add(summary: ImportSummary, batch: Batch, counts: WriteOutcome): void {
  summary.lines += batch.lines.length + batch.rejected.length;
  summary.rejected += batch.rejected.length + counts.rejected.length;
  for (const count of ['created', 'updated', 'tokensReplaced', 'unchanged', 'untaggedByDefault'] as const)
    summary[count] += counts[count];
  summary.lastLine = batch.lastLine;
}
