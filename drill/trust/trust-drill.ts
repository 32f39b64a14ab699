import { chooseRows, rowOptionsHelp } from '../choose-rows.ts';
import type { Drill } from '../drill.ts';
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

${rowOptionsHelp}`,
  async run(args, totals, signal) {
    const chosen = chooseRows(rows, args);
    if (!chosen) return 0;
    return (await runRows(chosen, totals, signal)) ? 0 : 1;
  },
};
