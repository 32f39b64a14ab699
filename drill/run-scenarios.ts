import { setMaxListeners } from 'node:events';
import { print } from './drill.ts';
import { createEnds } from './ends.ts';
import type { Scenario, ScenarioContext, ScenarioResult } from './scenario.ts';
import type { Totals } from './summary.ts';

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

async function runScenario(scenario: Scenario, totals: Totals, signal: AbortSignal): Promise<ScenarioResult> {
  const { end, ...ends } = createEnds();
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
  failures.push(...(await end()));
  return { figures, failures };
}
