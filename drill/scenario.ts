import { setMaxListeners } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDatabaseFolder } from '../test/support/database-folder.ts';

/** What a scenario gets. */
export interface ScenarioContext {
  /** An empty folder that every user may enter; deleted afterwards. */
  readonly folder: string;
  /**
   * Registers what ends something, before that is started; called in reverse order.
   *
   * @throws Error once the end has begun: what would be started then could not be ended.
   */
  onEnd(close: () => unknown): void;
  /** Registers a log, which is kept if the scenario fails. */
  onFailure(readLog: () => string): void;
  /** Adds a figure to the scenario's result. */
  figure(text: string): void;
  /** Makes the scenario fail with this text unless the condition holds. */
  expect(condition: boolean, failure: string): void;
}

/** A fault, and what must hold in spite of it. */
export interface Scenario {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Why it cannot run here; undefined if it can. */
  missing?(): string | undefined;
  run(context: ScenarioContext): Promise<void>;
}

/** Prints a line of a report. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Milliseconds as seconds. */
export const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

/**
 * Runs scenarios in order, and prints a line of a table in Markdown for each.
 *
 * @param signal ends the current scenario early; what it started is stopped, and no other scenario runs.
 * @returns whether every scenario passed; one that cannot run here does not count.
 */
export async function runScenarios(scenarios: readonly Scenario[], signal: AbortSignal): Promise<boolean> {
  setMaxListeners(0, signal); // each scenario listens
  const counts = { passed: 0, failed: 0, skipped: 0 };
  print('| scenario | figures | seconds | result |\n|---|---|---|---|');
  for (const scenario of scenarios) {
    if (signal.aborted) break;
    const startedAt = performance.now();
    const line = (figures: string, result: string) =>
      print(`| ${scenario.name} | ${figures} | ${((performance.now() - startedAt) / 1_000).toFixed(0)} | ${result} |`);
    const missing = scenario.missing?.();
    if (missing) {
      counts.skipped += 1;
      line(missing, 'not run');
      continue;
    }
    const { figures, failures } = await runScenario(scenario, signal);
    counts[failures.length === 0 ? 'passed' : 'failed'] += 1;
    line(figures.join('; '), failures.length === 0 ? 'passed' : 'FAILED');
    for (const failure of failures) print(`    FAIL: ${scenario.name}: ${failure}`);
  }
  print(`\n${counts.passed} scenarios passed, ${counts.failed} failed, ${counts.skipped} not run`);
  return counts.failed === 0 && !signal.aborted;
}

/** @returns the figures, and why it failed. */
async function runScenario(scenario: Scenario, signal: AbortSignal) {
  const folder = makeDatabaseFolder();
  chmodSync(folder, 0o777); // programs write their logs there, some as another user
  const figures: string[] = [];
  const failures: string[] = [];
  const ends: (() => unknown)[] = [];
  const logs: (() => string)[] = [];
  let isOver = false;
  const context: ScenarioContext = {
    folder,
    onEnd(close) {
      if (isOver) throw new Error('interrupted');
      ends.push(close);
    },
    onFailure: (readLog) => void logs.push(readLog),
    figure: (text) => void figures.push(text),
    expect: (condition, failure) => void (condition || failures.push(failure)),
  };
  // An interrupted scenario continues until it starts something.
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true });
  });
  try {
    await Promise.race([scenario.run(context), interrupted]);
  } catch (error) {
    failures.push((error as Error).message);
  }
  if (failures.length > 0) {
    const kept = mkdtempSync(join(tmpdir(), 'drill-logs-'));
    for (const [index, readLog] of logs.entries()) writeFileSync(join(kept, `${index + 1}.log`), readLog());
    failures.push(`the logs are in ${kept}`);
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
