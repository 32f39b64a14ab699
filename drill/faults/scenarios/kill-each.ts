import { freePort } from '../../../test/support/free-port.ts';
import { until } from '../../../test/support/process.ts';
import { descendants, titleOf } from '../../../test/support/processes.ts';
import { send } from '../../client.ts';
import { endGateway, Instance } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { seconds } from '../../summary.ts';
import { checkWriters } from '../check-writers.ts';
import { startWriters } from '../writers.ts';

/** Processes of PostgreSQL by the end of their title. */
const serverProcesses = [
  'checkpointer',
  'background writer',
  'walwriter',
  'autovacuum launcher',
  'logical replication launcher',
  'io worker',
  'user_group_gateway', // one that executes the gateway's statements
];

/** SIGKILL of each process in turn, of a gateway with two workers and of its PostgreSQL. */
export const killEachScenario: Scenario = {
  name: 'kill-each',
  summary: 'SIGKILL of each process in turn: workers, primary, PostgreSQL and each of its processes, while writers run',
  async run(context) {
    const { totals, figure, expect } = context;
    const instance = new Instance(context);
    const args = ['--workers', '2'];
    // A port of its own, because with port 0 the system would choose another one when no worker is left.
    const settings = { PORT: String(await freePort()) };
    let gateway = await instance.start(settings, args);
    const token = await instance.createToken(gateway.port);
    const writers = startWriters(() => gateway.port, token, context);
    const killed: string[] = [];
    let slowestMs = 0;

    /** Kills a process, and waits until writes are acknowledged and the gateway is ready, without help. */
    const kill = async (name: string, pid: number) => {
      await writers.more(30);
      const began = performance.now();
      process.kill(pid, 'SIGKILL');
      await until(() => descendants(pid).length === 0, `${name} ends`);
      await writers.more(30).catch((error: Error) => {
        throw new Error(`After SIGKILL of ${name}: ${error.message}`);
      });
      await until(async () => (await send(gateway.port, 'GET', '/readyz')).status === 200, `ready again after ${name}`);
      slowestMs = Math.max(slowestMs, performance.now() - began);
      killed.push(name);
      totals.kills += 1;
    };

    for (let worker = 0; worker < 2; worker += 1) {
      const workers = descendants(gateway.pid).filter((pid) => pid !== gateway.pid && /main\.js/.test(titleOf(pid)));
      const [pid] = workers;
      expect(workers.length === 2, `${workers.length} workers run, not 2`);
      if (pid) await kill(`worker ${worker + 1}`, pid);
      await until(
        () => descendants(gateway.pid).filter((each) => /main\.js/.test(titleOf(each))).length === 3,
        'the worker is replaced',
      );
    }
    for (const name of serverProcesses) {
      const pid = descendants(instance.runningPostmaster()).find((each) => titleOf(each).includes(name));
      if (pid) await kill(name, pid);
      else expect(false, `no process is named ${name}`);
    }
    await kill('postmaster', instance.runningPostmaster());
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);

    // A supervisor starts it again. Its workers must have ended with it.
    await writers.more(30);
    const below = descendants(gateway.pid);
    await endGateway(gateway, 'SIGKILL');
    await until(() => below.every((pid) => descendants(pid).length === 0 || /postgres/.test(titleOf(pid))), 'the workers end');
    gateway = await instance.start(settings, args);
    killed.push('primary');
    totals.kills += 1;
    await writers.more(30);

    await checkWriters(context, writers, instance);
    figure(`killed: ${killed.join(', ')}; slowest recovery ${seconds(slowestMs)} s`);
    const postmaster = instance.runningPostmaster();
    const how = await endGateway(gateway, 'SIGTERM');
    expect(how === 'exit status 0', `the gateway ended with ${how}`);
    expect(descendants(postmaster).length === 0, 'PostgreSQL is still running');
  },
};
