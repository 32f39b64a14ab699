import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueToken } from '../../../src/domain/tokens.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { endDatabase, type GatewayProcess, requireHandled, startGateway } from '../../gateway.ts';
import { descendants } from '../../processes.ts';
import { until } from '../../wait.ts';
import { describeCapacity, measureCapacity } from '../capacity.ts';
import { type Gateways, runEvent, startLoadOn } from '../gateways.ts';
import type { ScaleRow } from '../scale-row.ts';

/** `serve --workers N` with the bundled PostgreSQL. */
export const workersRow: ScaleRow = {
  name: 'workers',
  needs: {},
  async run(context) {
    const { folder, onEnd, result } = context;
    const dataDir = join(folder, 'data');
    const admin = issueToken('apiToken');
    const port = await freePort();
    onEnd(() => endDatabase(dataDir));
    const start = (workers: number) => startGateway(dataDir, admin, { PORT: String(port) }, ['--workers', String(workers)]);
    const postmaster = () => Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
    let primary: GatewayProcess;
    for (const workers of [1, 2]) {
      primary = await start(workers);
      const pids = { gateways: [primary.pid], postmaster: postmaster() };
      result({ event: `look-ups, ${workers} workers`, note: describeCapacity(await measureCapacity([port], admin, pids)) });
      await primary.stop();
    }

    primary = await start(2);
    onEnd(async () => {
      await primary.stop();
      requireHandled(primary);
    });
    const gateways: Gateways = { processes: [{ ...primary, ended: () => primary.ended() }], admin };
    const load = startLoadOn(context, gateways);
    const workersOf = () => descendants(primary.pid).slice(1).filter(isNode);

    const [killed] = workersOf();
    if (killed === undefined) throw new Error('No worker runs.');
    const replaced = await runEvent(load, gateways, 'a worker killed', async () => {
      process.kill(killed, 'SIGKILL');
      await until(() => workersOf().length === 1, 'the worker has ended');
      await until(() => workersOf().length === 2, 'the worker is replaced');
    });
    result({ ...replaced, mayClose: true });

    const workers = workersOf();
    const drained = await runEvent(load, gateways, 'first process killed, started again by hand', async () => {
      process.kill(primary.pid, 'SIGKILL');
      await until(() => !workers.some((pid) => existsSync(`/proc/${pid}`)), 'the workers drain and exit');
      await until(() => !existsSync(join(dataDir, 'postgres/postmaster.pid')), 'the last worker stops PostgreSQL');
      primary = await start(2);
    });
    result({ ...drained, mayClose: true, note: 'workers drained and exited, PostgreSQL stopped' });
  },
};

function isNode(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.js');
  } catch {
    return false;
  }
}
