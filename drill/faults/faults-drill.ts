import { chooseRows, rowOptionsHelp } from '../choose-rows.ts';
import type { Drill } from '../drill.ts';
import { runRows } from '../run-rows.ts';
import type { FaultRow } from './fault-row.ts';
import { backupRow } from './rows/backup.ts';
import { clockRow } from './rows/clock.ts';
import { commitRow } from './rows/commit.ts';
import { diskFullRow } from './rows/disk-full.ts';
import { frozenRow } from './rows/frozen.ts';
import { gatewayKillRow } from './rows/gateway-kill.ts';
import { killEachRow } from './rows/kill-each.ts';
import { overloadRows } from './rows/overload.ts';
import { postgresRow } from './rows/postgres.ts';
import { terminationRows } from './rows/termination.ts';
import { threeStartsRow } from './rows/three-starts.ts';
import { upgradeRow } from './rows/upgrade.ts';

/** Every row, in the order in which they run. */
const rows: readonly FaultRow[] = [
  ...[gatewayKillRow, commitRow, postgresRow, frozenRow, ...overloadRows, ...terminationRows, diskFullRow, clockRow],
  ...[killEachRow, threeStartsRow, upgradeRow, backupRow],
];

/** Faults of processes, the database, the disk and the clock. */
export const faultsDrill: Drill = {
  name: 'faults',
  summary: 'kills, freezes and overloads gateways and PostgreSQL, and checks that no acknowledged write is lost',
  help: `Usage: npm run drill -- faults [options]

Runs gateways with their own PostgreSQL, lets faults happen while requests are sent, and checks that no acknowledged write is lost,
that no request gets a wrong response, and that the gateway serves again by itself. Prints a table in Markdown. A row that cannot
run here says why.

${rowOptionsHelp}`,
  async run(args, totals, signal) {
    const chosen = chooseRows(rows, args);
    if (!chosen) return 0;
    return (await runRows(chosen, totals, signal)) ? 0 : 1;
  },
};
