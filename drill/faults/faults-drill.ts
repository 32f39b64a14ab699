import { createDrill } from '../drill.ts';
import { runScenarios } from '../scenario.ts';
import { backupScenario } from './scenarios/backup.ts';
import { commitScenario } from './scenarios/commit.ts';
import { diskFullScenario } from './scenarios/disk-full.ts';
import { frozenScenario } from './scenarios/frozen.ts';
import { gatewayKillScenario } from './scenarios/gateway-kill.ts';
import { killEachScenario } from './scenarios/kill-each.ts';
import { postgresScenario } from './scenarios/postgres.ts';

/** Faults of processes, the database and the disk. */
export const faultsDrill = createDrill({
  name: 'faults',
  summary: 'kills and freezes gateways and PostgreSQL, and checks that no acknowledged write is lost',
  description: `Runs gateways with their own PostgreSQL, lets faults happen while requests are sent, and checks that no acknowledged write is lost,
that no request gets a wrong response, and that the gateway serves again by itself. Prints a table in Markdown. A scenario that
cannot run here says why.`,
  scenarios: [
    gatewayKillScenario,
    commitScenario,
    postgresScenario,
    frozenScenario,
    diskFullScenario,
    killEachScenario,
    backupScenario,
  ],
  run: runScenarios,
});
