import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { makeDatabaseFolder } from '../../test/support/database-folder.ts';
import { chooseRows, rowOptionsHelp } from '../choose-rows.ts';
import { type Drill, print } from '../drill.ts';
import { gatewayRows } from './rows/gateways.ts';
import { multiHostRow } from './rows/multi-host.ts';
import { patroniRows } from './rows/patroni.ts';
import { pgBouncerRow } from './rows/pgbouncer.ts';
import { workersRow } from './rows/workers.ts';
import { describe, heading, type ScaleRow, violations } from './scale-row.ts';

/** Every row, in the order in which they run. */
const rows: readonly ScaleRow[] = [workersRow, ...gatewayRows, pgBouncerRow, multiHostRow, ...patroniRows];

/** Topologies beyond one machine. */
export const scaleDrill: Drill = {
  name: 'scale',
  summary: 'runs several gateways on replicated PostgreSQL, ends servers under load, and checks that nothing is lost',
  help: `Usage: npm run drill -- scale [options]

Runs each topology of docs/scaling.md with real processes and the files of deploy/, ends servers under load, and checks that no
acknowledged write is lost, no revoked API token is admitted, no response is stale, and no gateway has to be restarted. Prints a
table in Markdown. Takes about ten minutes. Topologies whose programs are not installed are not run, and the drill then fails.

${rowOptionsHelp}  --allow-missing   do not fail because of programs that are not installed
`,
  async run(args, _totals, signal) {
    const allowMissing = args.includes('--allow-missing');
    const chosen = chooseRows(
      rows,
      args.filter((arg) => arg !== '--allow-missing'),
    );
    if (!chosen) return 0;
    print(heading);
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    for (const row of chosen) {
      if (signal.aborted) break;
      const missing = Object.entries(row.needs).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
      if (missing.length > 0) {
        skipped += 1;
        print(
          `    NOT RUN: ${row.name} needs ${missing.join(', ')}: apt-get install --no-install-recommends ${missing.join(' ')}`,
        );
      } else if (await runRow(row)) passed += 1;
      else failed += 1;
    }
    print(`${passed} passed, ${failed} failed, ${skipped} not run`);
    return passed + (allowMissing ? skipped : 0) === chosen.length ? 0 : 1;
  },
};

/** @returns whether it passed. */
async function runRow(row: ScaleRow): Promise<boolean> {
  const folder = makeDatabaseFolder();
  chmodSync(folder, 0o777); // programs write their logs there, some as another user
  const ends: (() => Promise<void> | void)[] = [];
  let passed = true;
  try {
    await row.run({
      folder,
      onEnd: (close) => ends.push(close),
      result(result) {
        print(describe(row.name, result));
        if (violations(result).length > 0) passed = false;
      },
    });
  } catch (error) {
    print(`    FAIL: ${row.name}: ${(error as Error).message}`);
    passed = false;
  }
  for (const close of ends.reverse()) {
    try {
      await close();
    } catch (error) {
      print(`    FAIL: ${row.name} could not be stopped: ${(error as Error).message}`);
      passed = false;
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return passed;
}

function isInstalled(program: string): boolean {
  try {
    const PATH = `${process.env['PATH']}:/usr/sbin:/usr/lib/postgresql/15/bin`;
    execFileSync('which', [program], { env: { PATH }, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
