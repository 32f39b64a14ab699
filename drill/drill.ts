import { parseArgs } from 'node:util';
import type { Totals } from './summary.ts';

/** One of the drills of `npm run drill -- NAME`. */
export interface Drill {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** The text of `--help`. */
  readonly help: string;
  /**
   * Runs it.
   *
   * @param args the arguments after its name.
   * @param totals takes its figures.
   * @param signal ends the run early; every process is stopped nevertheless.
   * @returns the exit status: 0 if everything passed, 2 for wrong arguments.
   */
  run(args: string[], totals: Totals, signal: AbortSignal): Promise<number>;
}

/** Prints a line of a report. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** A scenario that can be chosen by its name. */
interface NamedScenario {
  readonly name: string;
  readonly summary?: string;
}

/** The lines about the options of {@link chooseScenarios} in a drill's `--help`. */
const scenarioOptionsHelp = `  --only NAME       run the scenarios whose name starts with NAME; may be repeated
  --list            print the names of the scenarios
`;

/**
 * Parses `--only` and `--list`.
 *
 * @param args the arguments after the drill's name, without options of its own.
 * @returns the scenarios to run, in the same order; undefined after `--list`, which prints them.
 * @throws Error when a name matches no scenario, or on an unknown option.
 */
function chooseScenarios<Scenario extends NamedScenario>(
  scenarios: readonly Scenario[],
  args: string[],
): readonly Scenario[] | undefined {
  const options = { only: { type: 'string', multiple: true }, list: { type: 'boolean' } } as const;
  const { only, list } = parseArgs({ args, options }).values;
  const unknown = (only ?? []).filter((start) => !scenarios.some(({ name }) => name.startsWith(start)));
  if (unknown.length > 0) throw new Error(`Unknown scenario: ${unknown.join(', ')}. --list prints the names.`);
  const chosen = only ? scenarios.filter(({ name }) => only.some((start) => name.startsWith(start))) : scenarios;
  if (!list) return chosen;
  print(chosen.map(({ name, summary = '' }) => `${name.padEnd(24)}${summary}`.trimEnd()).join('\n'));
  return undefined;
}

/** What {@link createDrill} takes. */
interface DrillParts<Each extends NamedScenario> extends Pick<Drill, 'name' | 'summary'> {
  /** What `--help` says between the usage and the options. */
  readonly description: string;
  /** Every scenario, in the order in which they run. */
  readonly scenarios: readonly Each[];
  /** @returns whether all that were chosen passed. */
  run(chosen: readonly Each[], totals: Totals, signal: AbortSignal): Promise<boolean>;
}

/** A drill whose only options choose scenarios. */
export const createDrill = <Each extends NamedScenario>(parts: DrillParts<Each>): Drill => ({
  name: parts.name,
  summary: parts.summary,
  help: `Usage: npm run drill -- ${parts.name} [options]\n\n${parts.description}\n\n${scenarioOptionsHelp}`,
  async run(args, totals, signal) {
    const chosen = chooseScenarios(parts.scenarios, args);
    return !chosen || (await parts.run(chosen, totals, signal)) ? 0 : 1;
  },
});
