import { setTimeout as pause } from 'node:timers/promises';
import { endGateway, Instance } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { quantile, seconds } from '../../summary.ts';
import { checkWriters } from '../check-writers.ts';
import { startWriters } from '../writers.ts';

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
    const startsMs: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      await writers.more(40);
      await pause(Math.random() * 50); // anywhere in a request
      await endGateway(gateway, 'SIGKILL');
      const began = performance.now();
      gateway = await instance.start();
      startsMs.push(performance.now() - began);
      context.totals.kills += 1;
    }
    await writers.more(40);
    await checkWriters(context, writers, instance);
    context.figure(`${kills} kills, each start without help, in at most ${seconds(quantile(startsMs, 1))} s`);
    context.figure(`${writers.cutOff} requests were in flight`);
    context.expect(writers.cutOff >= kills, `only ${writers.cutOff} requests were in flight when the gateway was killed`);
  },
};
