import { stopSignals } from '../src/commands/stop-signals.ts';
import { type Drill, print } from './drill.ts';
import { eventsDrill } from './events/events-drill.ts';
import { faultsDrill } from './faults/faults-drill.ts';
import { hostileDrill } from './hostile/hostile-drill.ts';
import { scaleDrill } from './scale/scale-drill.ts';
import { emptyTotals, summarize } from './summary.ts';
import { trustDrill } from './trust.ts';

/** Every drill. */
const drills: readonly Drill[] = [trustDrill, hostileDrill, faultsDrill, scaleDrill, eventsDrill];

/** What runs without a name: everything that needs no further programs, in less than 15 minutes. */
const standardDrills: readonly Drill[] = [trustDrill, hostileDrill, faultsDrill];

const help = `Usage: npm run drill [-- NAME [options]]

${drills.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}

Without a name, runs ${standardDrills.map(({ name }) => name).join(', ')}. --help after a name prints its options.
`;

/** @returns the exit status. */
async function main([name, ...args]: string[]): Promise<number> {
  const drill = drills.find((each) => each.name === name);
  if ((name !== undefined && !drill) || args.includes('--help')) {
    const text = drill?.help ?? help;
    if (drill || name === '--help') print(text);
    else process.stderr.write(text);
    return drill || name === '--help' ? 0 : 2;
  }
  const interrupted = new AbortController();
  for (const signal of stopSignals) process.on(signal, () => interrupted.abort());
  const totals = emptyTotals();
  let status = 0;
  for (const each of drill ? [drill] : standardDrills) {
    if (interrupted.signal.aborted) break;
    if (!drill) print(`\n## ${each.name}\n`);
    status = Math.max(status, await each.run(args, totals, interrupted.signal));
  }
  // The drill of several machines has a table of its own.
  if (args.includes('--list') || drill === scaleDrill) return interrupted.signal.aborted ? 1 : status;
  const { text, holds } = summarize(totals, drill === undefined);
  print(`\n## summary\n\n${text}`);
  return interrupted.signal.aborted ? 1 : Math.max(status, holds ? 0 : 1);
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);
