import { parseArgs } from 'node:util';
import { runHostile } from './hostile.ts';
import type { Row } from './row.ts';
import { bodyRows } from './rows/bodies.ts';
import { costRows } from './rows/costs.ts';
import { docsConfigRows } from './rows/docs-config.ts';
import { documentRows } from './rows/documents.ts';
import { fairnessRows } from './rows/fairness.ts';
import { headerRows } from './rows/headers.ts';
import { introspectionRows } from './rows/introspection.ts';
import { numberRows } from './rows/numbers.ts';
import { restRows } from './rows/rest.ts';
import { slowRows } from './rows/slow.ts';

/** Every row, in the order in which they run. */
const rows: readonly Row[] = [
  ...[...numberRows, ...introspectionRows, ...costRows, ...documentRows, ...bodyRows],
  ...[...restRows, ...docsConfigRows, ...headerRows, ...fairnessRows, ...slowRows],
];

const help = `Usage: npm run drill -- hostile [options]

Starts a gateway with its own PostgreSQL, sends it hostile requests, and checks that meanwhile /livez responds within 250 ms,
other callers get their responses, memory stays below 400 MiB, and every error response says what to do.

  --only NAME   run the rows whose name starts with NAME; may be repeated
  --list        print the names of the rows
`;

const print = (text: string) => void process.stdout.write(`${text}\n`);

/** @returns the exit status. */
async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    print(help);
    return 0;
  }
  const { only } = values;
  const chosen = only ? rows.filter(({ name }) => only.some((start) => name.startsWith(start))) : rows;
  if (values.list) {
    print(chosen.map(({ name }) => name).join('\n'));
    return 0;
  }
  if (positionals.join(' ') !== 'hostile' || chosen.length === 0) {
    process.stderr.write(chosen.length === 0 ? `Unknown row: ${only?.join(', ')}. --list prints the names.\n` : help);
    return 2;
  }
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  return (await runHostile(chosen, print, interrupted.signal)) ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  },
);
