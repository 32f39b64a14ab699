import { type Drill, print } from './drill.ts';
import { hostileDrill } from './hostile-drill.ts';
import { scaleDrill } from './scale/scale-drill.ts';

/** Every drill. */
const drills: readonly Drill[] = [hostileDrill, scaleDrill];

const help = `Usage: npm run drill -- NAME [options]

${drills.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}

--help after a name prints its options.
`;

/** @returns the exit status. */
async function main([name, ...args]: string[]): Promise<number> {
  const drill = drills.find((each) => each.name === name);
  if (!drill || args.includes('--help')) {
    const text = drill?.help ?? help;
    if (drill || name === '--help') print(text);
    else process.stderr.write(text);
    return drill || name === '--help' ? 0 : 2;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  return drill.run(args, interrupted.signal);
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);
