import { setMaxListeners } from 'node:events';
import { print } from './drill.ts';
import { createEnds, type Ends } from './ends.ts';
import type { Totals } from './summary.ts';

/** What a scenario gets. */
export interface ScenarioContext extends Ends {
  readonly totals: Totals;
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

/**
 * Runs scenarios in order, and prints a line of a table in Markdown for each.
 *
 * @param totals takes the figures of the scenarios.
 * @param signal ends the current scenario early; what it started is stopped, and no other scenario runs.
 * @returns whether every scenario passed; one that cannot run here does not count.
 */
export async function runScenarios(scenarios: readonly Scenario[], totals: Totals, signal: AbortSignal): Promise<boolean> {
  setMaxListeners(0, signal); // each scenario listens
  let hasFailed = false;
  print('| scenario | figures | seconds | result |\n|---|---|---|---|');
  for (const scenario of scenarios) {
    if (signal.aborted) break;
    const began = performance.now();
    const line = (figures: string, result: string) =>
      print(`| ${scenario.name} | ${figures} | ${((performance.now() - began) / 1_000).toFixed(0)} | ${result} |`);
    const missing = scenario.missing?.();
    if (missing) {
      totals.skipped += 1;
      line(missing, 'not run');
      continue;
    }
    const { figures, failures } = await runScenario(scenario, totals, signal);
    if (failures.length === 0) totals.passed += 1;
    else {
      totals.failed += 1;
      hasFailed = true;
    }
    line(figures.join('; '), failures.length === 0 ? 'passed' : 'FAILED');
    for (const failure of failures) print(`    FAIL: ${scenario.name}: ${failure}`);
  }
  return !hasFailed && !signal.aborted;
}

/** @returns the figures, and why it failed. */
async function runScenario(scenario: Scenario, totals: Totals, signal: AbortSignal) {
  const { end, keepLogs, ...ends } = createEnds();
  const figures: string[] = [];
  const failures: string[] = [];
  const context: ScenarioContext = {
    ...ends,
    totals,
    figure: (text) => void figures.push(text),
    expect(condition, failure) {
      if (!condition) failures.push(failure);
    },
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
  if (failures.length > 0) failures.push(`the logs are in ${keepLogs()}`);
  failures.push(...(await end()));
  return { figures, failures };
}
