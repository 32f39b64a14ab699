import { chooseScenarios, type Drill, print, scenarioOptionsHelp } from '../drill.ts';
import { createEnds } from '../ends.ts';
import { isInstalled } from './programs.ts';
import { describe, heading, type ScaleScenario, violations } from './scale-scenario.ts';
import { gatewayScenarios } from './scenarios/gateways.ts';
import { patroniScenario } from './scenarios/patroni.ts';
import { pgBouncerScenario } from './scenarios/pgbouncer.ts';

/** Every scenario, in the order in which they run. */
const scenarios: readonly ScaleScenario[] = [...gatewayScenarios, pgBouncerScenario, patroniScenario];

/** Topologies beyond one machine. */
export const scaleDrill: Drill = {
  name: 'scale',
  summary: 'runs several gateways on replicated PostgreSQL, ends servers under load, and checks that nothing is lost',
  help: `Usage: npm run drill -- scale [options]

Runs each topology of docs/scaling.md with real processes and the files of deploy/, ends servers under load, and checks that no
acknowledged write is lost, no revoked API or embed token is admitted, no suspended group is found, no response is
stale, and no gateway has to be restarted. Prints a table in Markdown. Takes about ten minutes. Topologies whose programs are not installed are not run, and the drill then fails.

${scenarioOptionsHelp}  --allow-missing   do not fail because of programs that are not installed
`,
  async run(args, _totals, signal) {
    const allowMissing = args.includes('--allow-missing');
    const chosen = chooseScenarios(
      scenarios,
      args.filter((arg) => arg !== '--allow-missing'),
    );
    if (!chosen) return 0;
    print(heading);
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const scenario of chosen) {
      if (signal.aborted) break;
      const missing = Object.entries(scenario.needs).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
      if (missing.length > 0) {
        skipped += 1;
        print(
          `    NOT RUN: ${scenario.name} needs ${missing.join(', ')}: apt-get install --no-install-recommends ${missing.join(' ')}`,
        );
      } else if (await runScenario(scenario)) passed += 1;
      else failed += 1;
    }
    print(`${passed} passed, ${failed} failed, ${skipped} not run`);
    return passed + (allowMissing ? skipped : 0) === chosen.length ? 0 : 1;
  },
};

/** @returns whether it passed. */
async function runScenario(scenario: ScaleScenario): Promise<boolean> {
  const { end, ...ends } = createEnds();
  const failures: string[] = [];
  let passed = true;
  try {
    await scenario.run({
      ...ends,
      result(result) {
        print(describe(scenario.name, result));
        if (violations(result).length > 0) passed = false;
      },
    });
  } catch (error) {
    failures.push((error as Error).message);
  }
  failures.push(...(await end()));
  for (const failure of failures) print(`    FAIL: ${scenario.name}: ${failure}`);
  return passed && failures.length === 0;
}
