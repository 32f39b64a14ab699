import { chooseRows, rowOptionsHelp } from './choose-rows.ts';
import { type Drill, print } from './drill.ts';
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

/** Hostile requests. */
export const hostileDrill: Drill = {
  name: 'hostile',
  summary: 'sends a gateway hostile requests, and checks that other callers are still served',
  help: `Usage: npm run drill -- hostile [options]

Starts a gateway with its own PostgreSQL, sends it hostile requests, and checks that /livez still responds within 250 ms,
other callers get their responses, memory stays below 400 MiB, and every error response says what to do.

${rowOptionsHelp}`,
  async run(args, totals, signal) {
    const chosen = chooseRows(rows, args);
    if (!chosen) return 0;
    return (await runHostile(chosen, totals, print, signal)) ? 0 : 1;
  },
};
