// `npm run drill`: real processes, real faults. See `--help`.
import { parseArgs } from 'node:util';
import { stopSignals } from '../src/commands/options.ts';
import { feedScenario } from './events/feed.ts';
import { backupScenario } from './faults/backup.ts';
import { commitScenario } from './faults/commit.ts';
import { diskFullScenario } from './faults/disk-full.ts';
import { frozenScenario } from './faults/frozen.ts';
import { gatewayKillScenario, killEachScenario } from './faults/kill.ts';
import { hostileScenarios } from './hostile/scenarios.ts';
import { scaleScenarios } from './scale/scenarios.ts';
import { print, runScenarios, type Scenario } from './scenario.ts';

const drills: Readonly<Record<string, { readonly summary: string; readonly scenarios: readonly Scenario[] }>> = {
  hostile: {
    summary: 'sends a gateway hostile requests, and checks that it survives them and serves others when they end',
    scenarios: hostileScenarios,
  },
  faults: {
    summary: 'kills and freezes gateways and PostgreSQL, and checks that no acknowledged write is lost',
    scenarios: [gatewayKillScenario, commitScenario, frozenScenario, diskFullScenario, killEachScenario, backupScenario],
  },
  scale: {
    summary: 'runs several gateways on replicated PostgreSQL, ends servers under load, and checks that nothing is lost',
    scenarios: scaleScenarios,
  },
  events: {
    summary: 'follows the event feed and takes webhooks through kills and a failover, and checks that no event is missed',
    scenarios: [feedScenario],
  },
};

const help = `Usage: npm run drill -- NAME [--only SCENARIO]... [--list]

${Object.entries(drills)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

Prints a table in Markdown. A scenario whose programs are not installed is not run, and its line says what to install.

  --only SCENARIO   run the scenarios whose name starts with SCENARIO; may be repeated
  --list            print the names of the scenarios
`;

/** @returns the exit status. */
async function main(args: string[]): Promise<number> {
  const options = { only: { type: 'string', multiple: true }, list: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const drill = drills[positionals[0] ?? ''];
  if (!drill || values.help) {
    print(help);
    return values.help ? 0 : 2;
  }
  const { only = [''], list } = values;
  const chosen = drill.scenarios.filter(({ name }) => only.some((start) => name.startsWith(start)));
  if (chosen.length === 0) throw new Error(`No scenario starts with ${only.join(', ')}. --list prints the names.`);
  if (list) {
    print(chosen.map(({ name, summary }) => `${name.padEnd(32)}${summary}`).join('\n'));
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of stopSignals) process.on(signal, () => interrupted.abort());
  return (await runScenarios(chosen, interrupted.signal)) ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);
