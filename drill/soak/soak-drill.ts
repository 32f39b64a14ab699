import { parseArgs } from 'node:util';
import type { Drill } from '../drill.ts';
import { runRows } from '../run-rows.ts';
import { soakRow } from './soak-row.ts';

const defaultMinutes = 10;

/** A mixed load for minutes. */
export const soakDrill: Drill = {
  name: 'soak',
  summary: `sends a mixed load for ${defaultMinutes} minutes, and checks that memory and connections stay flat`,
  help: `Usage: npm run drill -- soak [options]

Sends reads, writes, lists and rejected requests to one gateway with its own PostgreSQL, and compares memory, connections and open
files of the second and the last third.

  --minutes N   how long (default: ${defaultMinutes})
`,
  async run(args, totals, signal) {
    const { minutes = String(defaultMinutes) } = parseArgs({ args, options: { minutes: { type: 'string' } } }).values;
    if (!(Number(minutes) > 0)) throw new Error('--minutes takes a number above 0.');
    return (await runRows([soakRow(Number(minutes))], totals, signal)) ? 0 : 1;
  },
};
