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
  'gateway postgres', // one that executes the gateway's statements
];

/** SIGKILL of each process of PostgreSQL in turn. */
export const killEachScenario: Scenario = {
  name: 'kill-each',
  summary: 'SIGKILL of PostgreSQL and each of its processes in turn, while writers run',
  async run(context) {
    const { totals, figure, expect } = context;
    const instance = new Instance(context);
    const gateway = await instance.start();
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

    for (const name of serverProcesses) {
      const pid = descendants(instance.runningPostmaster()).find((each) => titleOf(each).includes(name));
      if (pid) await kill(name, pid);
      else expect(false, `no process is named ${name}`);
    }
    await kill('postmaster', instance.runningPostmaster());
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);

    await writers.more(30);
    await checkWriters(context, writers, instance);
    figure(`killed: ${killed.join(', ')}; slowest recovery ${seconds(slowestMs)} s`);
    const postmaster = instance.runningPostmaster();
    const how = await endGateway(gateway, 'SIGTERM');
    expect(how === 'exit status 0', `the gateway ended with ${how}`);
    expect(descendants(postmaster).length === 0, 'PostgreSQL is still running');
  },
};
