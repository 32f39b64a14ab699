import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../src/database/open.ts';
import { type BundledServer, startPair } from '../../../test/support/bundled-server.ts';
import { descendants } from '../../../test/support/processes.ts';
import { runEvent, startGateways, startLoadOn } from '../gateways.ts';
import type { ScaleScenario } from '../scale-scenario.ts';

type Pair = Awaited<ReturnType<typeof startPair>>;

/** How long an operator, or a tool, takes to notice and promote the standby. */
const noticedAfterMs = 3_000;

const events: readonly [name: string, act: (pair: Pair) => Promise<void> | void][] = [
  ['primary crashes', ({ primary }) => primary.end('SIGQUIT')],
  ['primary vanishes silently (frozen)', ({ primary }) => signalAll(primary, 'SIGSTOP')],
];

/** A primary and a synchronous standby of the bundled PostgreSQL, both in `DATABASE_URL`, and an operator who promotes. */
export const multiHostScenario: ScaleScenario = {
  name: 'multi-host',
  needs: {},
  async run(context) {
    const created = join(context.folder, 'created');
    mkdirSync(created);
    chmodSync(created, 0o755);
    await (await openDatabase({ databaseUrl: undefined, dataDir: created, namedStatements: true, onEvent: () => {} })).close();
    for (const [name, act] of events) {
      const pair = await startPair(created);
      const { primary, standby } = pair;
      context.onEnd(async () => {
        signalAll(primary, 'SIGCONT');
        await standby.remove();
        await primary.remove();
      });
      const url = `postgresql://${primary.user}@${primary.address},${standby.address}/user_group_gateway?target_session_attrs=read-write`;
      const gateways = await startGateways(context, url, 2);
      const load = startLoadOn(context, gateways);
      const result = await runEvent(load, gateways, `${name}, standby promoted ${noticedAfterMs / 1_000} s later`, async () => {
        await act(pair);
        await new Promise((resolve) => setTimeout(resolve, noticedAfterMs));
        await standby.promote();
      });
      context.result(result);
      await load.stop();
    }
  },
};

function signalAll(server: BundledServer, signal: NodeJS.Signals): void {
  const pid = server.pid();
  for (const each of pid ? descendants(pid) : []) process.kill(each, signal);
}
