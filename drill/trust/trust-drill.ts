import { parseArgs } from 'node:util';
import { type Drill, print } from '../drill.ts';
import type { FaultRow } from '../faults/fault-row.ts';
import { runRows } from '../run-rows.ts';
import { accessRow } from './access-row.ts';
import { secretsRow } from './secrets-row.ts';

const rows: readonly FaultRow[] = [accessRow, secretsRow];

/** Who is let in, and where secrets get to. */
export const trustDrill: Drill = {
  name: 'trust',
  summary: 'sends every operation with every kind of credential, and searches everything that a gateway writes for secrets',
  help: `Usage: npm run drill -- trust [options]

Sends every operation of a gateway with every kind of credential, and checks who is let in; sends, issues and stores secrets, and
searches for them everywhere but in the responses that return them. Prints a table in Markdown.

  --only NAME   run the rows whose name starts with NAME; may be repeated
  --list        print the names of the rows
`,
  async run(args, totals, signal) {
    const options = { only: { type: 'string', multiple: true }, list: { type: 'boolean' } } as const;
    const { only, list } = parseArgs({ args, options }).values;
    const chosen = only ? rows.filter(({ name }) => only.some((start) => name.startsWith(start))) : rows;
    if (chosen.length === 0) throw new Error(`Unknown row: ${only?.join(', ')}. --list prints the names.`);
    if (list) {
      print(chosen.map(({ name, summary }) => `${name.padEnd(24)}${summary}`).join('\n'));
      return 0;
    }
    return (await runRows(chosen, totals, signal)) ? 0 : 1;
  },
};
