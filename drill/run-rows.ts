import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { makeDatabaseFolder } from '../test/support/database-folder.ts';
import { print } from './drill.ts';
import type { FaultRow, RowContext, RowResult } from './faults/fault-row.ts';
import type { Totals } from './summary.ts';

/**
 * Runs rows in order, and prints a line of a table in Markdown for each.
 *
 * @param totals takes the figures of the rows.
 * @param signal ends the current row early; what it started is stopped, and no other row runs.
 * @returns whether every row passed; one that cannot run here does not count.
 */
export async function runRows(rows: readonly FaultRow[], totals: Totals, signal: AbortSignal): Promise<boolean> {
  setMaxListeners(0, signal); // each row listens
  let hasFailed = false;
  print('| row | figures | seconds | result |\n|---|---|---|---|');
  for (const row of rows) {
    if (signal.aborted) break;
    const began = performance.now();
    const line = (figures: string, result: string) =>
      print(`| ${row.name} | ${figures} | ${((performance.now() - began) / 1_000).toFixed(0)} | ${result} |`);
    const missing = row.missing?.();
    if (missing) {
      totals.skipped += 1;
      line(missing, 'not run');
      continue;
    }
    const { figures, failures } = await runRow(row, totals, signal);
    if (failures.length === 0) totals.passed += 1;
    else {
      totals.failed += 1;
      hasFailed = true;
    }
    line(figures.join('; '), failures.length === 0 ? 'passed' : 'FAILED');
    for (const failure of failures) print(`    FAIL: ${row.name}: ${failure}`);
  }
  return !hasFailed && !signal.aborted;
}

async function runRow(row: FaultRow, totals: Totals, signal: AbortSignal): Promise<RowResult> {
  const folder = makeDatabaseFolder();
  const ends: (() => Promise<void> | void)[] = [];
  const figures: string[] = [];
  const failures: string[] = [];
  let isOver = false;
  const context: RowContext = {
    ...{ folder, totals },
    onEnd(close) {
      // An interrupted row continues until its next call; whatever it would start then could not be ended.
      if (isOver) throw new Error('interrupted');
      ends.push(close);
    },
    figure: (text) => void figures.push(text),
    expect(condition, failure) {
      if (!condition) failures.push(failure);
    },
  };
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true });
  });
  try {
    await Promise.race([row.run(context), interrupted]);
  } catch (error) {
    failures.push((error as Error).message);
  }
  isOver = true;
  for (let close = ends.pop(); close; close = ends.pop()) {
    try {
      await close();
    } catch (error) {
      failures.push(`at its end: ${(error as Error).message}`);
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return { figures, failures };
}
