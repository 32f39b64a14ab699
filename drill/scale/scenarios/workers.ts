import { freePort } from '../../../test/support/free-port.ts';
import { until } from '../../../test/support/process.ts';
import { descendants, isAlive, titleOf } from '../../../test/support/processes.ts';
import type { GatewayProcess } from '../../gateway.ts';
import { Instance } from '../../instance.ts';
import { describeCapacity, measureCapacity } from '../capacity.ts';
import { type Gateways, runEvent, startLoadOn } from '../gateways.ts';
import type { ScaleScenario } from '../scale-scenario.ts';

/** `serve --workers N` with the bundled PostgreSQL. */
export const workersScenario: ScaleScenario = {
  name: 'workers',
  needs: {},
  async run(context) {
    const { result } = context;
    const instance = new Instance(context, { PORT: String(await freePort()) });
    const { admin } = instance;
    const start = (workers: number) => instance.start({}, ['--workers', String(workers)]);
    let primary: GatewayProcess;
    for (const workers of [1, 2]) {
      primary = await start(workers);
      const pids = { gateways: [primary.pid], postmaster: instance.runningPostmaster() };
      result({
        event: `look-ups, ${workers} workers`,
        note: describeCapacity(await measureCapacity([primary.port], admin, pids)),
      });
      await primary.stop();
    }

    primary = await start(2);
    const gateways: Gateways = { processes: [{ ...primary, ended: () => primary.ended() }], admin };
    const load = startLoadOn(context, gateways);
    const workersOf = () =>
      descendants(primary.pid)
        .slice(1)
        .filter((pid) => titleOf(pid).includes('main.js'));

    const [killed] = workersOf();
    if (killed === undefined) throw new Error('No worker runs.');
    const replaced = await runEvent(load, gateways, 'a worker killed', async () => {
      process.kill(killed, 'SIGKILL');
      await until(() => workersOf().length === 1, 'the worker has ended');
      await until(() => workersOf().length === 2, 'the worker is replaced');
    });
    result({ ...replaced, mayClose: true });

    const workers = workersOf();
    const restarted = await runEvent(load, gateways, 'first process killed, started again by hand', async () => {
      process.kill(primary.pid, 'SIGKILL');
      await until(() => !workers.some(isAlive), 'the workers end');
      primary = await start(2);
    });
    result({ ...restarted, mayClose: true });
  },
};
