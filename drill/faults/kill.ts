import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/process.ts';
import { descendants, titleOf } from '../../test/support/processes.ts';
import { isReady } from '../client.ts';
import { endGateway, Instance } from '../instance.ts';
import { type Scenario, seconds } from '../scenario.ts';
import { checkWriters } from './check-writers.ts';
import { startWriters } from './writers.ts';

const kills = 20;

/** SIGKILL of the gateway, again and again, while writers run. PostgreSQL survives, and the next gateway finds it. */
export const gatewayKillScenario: Scenario = {
  name: 'gateway-kill',
  summary: `SIGKILL of the gateway, ${kills} times, while writers run`,
  async run(context) {
    const instance = new Instance(context);
    let gateway = await instance.start();
    const token = await instance.createToken(gateway.port);
    const writers = startWriters(() => gateway.port, token, context);
    let slowestMs = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      await writers.more(40);
      await pause(Math.random() * 50); // anywhere in a request
      await endGateway(gateway, 'SIGKILL');
      const startedAt = performance.now();
      gateway = await instance.start();
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
    await writers.more(40);
    await checkWriters(context, writers, instance);
    context.figure(`${kills} kills, each start without help, in at most ${seconds(slowestMs)} s`);
    context.figure(`${writers.cutOff} requests were in flight`);
    context.expect(writers.cutOff >= kills, `only ${writers.cutOff} requests were in flight when the gateway was killed`);
  },
};

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
    const { figure, expect } = context;
    const instance = new Instance(context);
    const gateway = await instance.start();
    const token = await instance.createToken(gateway.port);
    const writers = startWriters(() => gateway.port, token, context);
    let slowestMs = 0;
    for (const name of [...serverProcesses, 'postmaster']) {
      const postmaster = instance.runningPostmaster();
      const pid = name === 'postmaster' ? postmaster : descendants(postmaster).find((each) => titleOf(each).includes(name));
      expect(pid !== undefined, `no process is named ${name}`);
      if (pid === undefined) continue;
      await writers.more(30);
      const killedAt = performance.now();
      process.kill(pid, 'SIGKILL');
      await until(() => descendants(pid).length === 0, `${name} ends`);
      // Serves again without help.
      await writers.more(30);
      await until(() => isReady(gateway.port), `ready again after SIGKILL of ${name}`);
      slowestMs = Math.max(slowestMs, performance.now() - killedAt);
    }
    await checkWriters(context, writers, instance);
    figure(`killed: ${serverProcesses.join(', ')}, postmaster; slowest recovery ${seconds(slowestMs)} s`);
    const postmaster = instance.runningPostmaster();
    const how = await endGateway(gateway, 'SIGTERM');
    expect(how === 'exit status 0', `the gateway ended with ${how}`);
    expect(descendants(postmaster).length === 0, 'PostgreSQL is still running');
  },
};
