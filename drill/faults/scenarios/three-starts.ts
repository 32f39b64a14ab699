import { descendants } from '../../../test/support/processes.ts';
import { send } from '../../client.ts';
import { endGateway, Instance } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { startWriters } from '../writers.ts';

const starts = 3;
const rounds = 2;

/** Several gateways that are started at once on one folder: a new one, and one whose PostgreSQL was killed. */
export const threeStartsScenario: Scenario = {
  name: 'three-starts',
  summary: `${starts} gateways started at once on one DATA_DIR: a new one, and one that was killed`,
  async run(context) {
    const { figure, expect, totals } = context;
    const instance = new Instance(context, { ENCRYPTION_KEYS: '' }); // so that the key file is also created at once
    for (let round = 0; round < rounds; round += 1) {
      const gateways = await Promise.all(Array.from({ length: starts }, () => instance.start()));
      if (round === 0) await instance.createToken(gateways[0]?.port ?? 0);
      const { token } = instance;
      const tokens = await Promise.all(
        gateways.map(async ({ port }) => {
          const reply = await send(port, 'GET', '/api/user', { token, body: { user_group_id: 'shared' } });
          return reply.json?.user_group?.token as string | undefined;
        }),
      );
      expect(tokens[0] !== undefined && new Set(tokens).size === 1, `the gateways respond differently: ${tokens.join()}`);
      const postmaster = instance.runningPostmaster();
      expect(descendants(postmaster).length > 0, 'no PostgreSQL runs');
      if (round + 1 < rounds) {
        process.kill(postmaster, 'SIGKILL');
        for (const gateway of gateways) await endGateway(gateway, 'SIGKILL');
        totals.kills += starts + 1;
        continue;
      }
      let next = 0;
      const writers = startWriters(() => gateways[next++ % starts]?.port ?? 0, token, context);
      await writers.more(60);
      await writers.stop();
      expect(writers.refused + writers.closed === 0, 'requests failed');
      expect(writers.wrong.length === 0, `wrong responses: ${writers.wrong[0]}`);
      for (const [index, gateway] of gateways.entries()) {
        expect((await send(gateway.port, 'GET', '/readyz')).status === 200, 'a gateway is not ready');
        const how = await endGateway(gateway, 'SIGTERM');
        expect(how === 'exit status 0', `a gateway ended with ${how}`);
        const runs = instance.postmaster() !== undefined;
        expect(runs === index < starts - 1, runs ? 'PostgreSQL still runs after the last stop' : 'PostgreSQL stopped too early');
      }
    }
    figure(`${rounds} times ${starts} starts at once: all serve the same data, PostgreSQL stops with the last one`);
  },
};
