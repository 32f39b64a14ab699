import { startCommitProxy } from '../../test/support/commit-proxy.ts';
import { until } from '../../test/support/process.ts';
import { send } from '../client.ts';
import { endGateway, Instance } from '../instance.ts';
import type { Scenario } from '../scenario.ts';

const kills = 20;

/** Kills that land between COMMIT and response. A proxy in front of PostgreSQL holds the response to the COMMIT back. */
export const commitScenario: Scenario = {
  name: 'commit',
  summary: `SIGKILL of a gateway between COMMIT and response, ${kills} times; each rotation is fetched again with its key`,
  async run(context) {
    const instance = new Instance(context);
    const survivor = await instance.start();
    const token = await instance.createToken(survivor.port);
    const proxy = await startCommitProxy(instance.databaseUrl());
    context.onEnd(() => proxy.close());
    let replayed = 0;
    let landed = 0;
    const faults: string[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const id = `rotated ${kill}`;
      const [doomed, created] = await Promise.all([
        instance.start({ DATABASE_URL: proxy.url }),
        send(survivor.port, 'GET', '/api/user', { token, body: { user_group_id: id } }),
      ]);
      const { token: current_token, team_id: teamId } = created.json.user_group;
      const request = { token, idempotencyKey: `kill-${kill}`, body: { current_token } };
      const committed = proxy.holdNextCommit();
      const lost = send(doomed.port, 'POST', '/api/user', request);
      await committed;
      await endGateway(doomed, 'SIGKILL');
      const isCutOff = (await lost).status === 0;
      if (!isCutOff) faults.push(`the gateway responded to rotation ${kill}`);

      const again = await until(async () => {
        const reply = await send(survivor.port, 'POST', '/api/user', request);
        return reply.status === 409 ? undefined : reply;
      }, 'the key is no longer in use');
      if (again.headers.get('idempotency-replayed') === 'true') replayed += 1;
      const { json } = await send(survivor.port, 'GET', '/api/user', { token, body: { user_group_id: id } });
      const stored = json.user_group.token;
      if (again.status !== 200 || again.json.user_group.token !== stored || stored === current_token)
        faults.push(`rotation ${kill} is lost: ${again.status} ${again.text.slice(0, 200)}`);
      const where = { teamId, type: 'user_group.token_rotated' };
      const rotations = await instance.withDatabase(({ prisma }) => prisma.event.count({ where }));
      if (rotations !== 1) faults.push(`group ${kill} was rotated ${rotations} times`);
      // Without a response, and yet executed: the gateway ended after the COMMIT.
      if (isCutOff && rotations === 1) landed += 1;
    }
    context.figure(
      `${landed} kills between COMMIT and response; ${replayed} rotations fetched again with their key, each executed once`,
    );
    context.expect(faults.length === 0, faults.slice(0, 3).join('; '));
    context.expect(landed === kills, `only ${landed} of ${kills} kills were between COMMIT and response`);
    context.expect(replayed === kills, `only ${replayed} of ${kills} responses were replayed`);
  },
};
