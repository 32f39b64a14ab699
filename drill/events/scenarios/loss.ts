import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../../test/support/process.ts';
import type { Scenario } from '../../scenario.ts';
import { startActivity } from '../activity.ts';
import { checkFollowers, readEvents } from '../check-followers.ts';
import { missingProgram, startDeployment } from '../deployment.ts';
import { startFollowers } from './feed.ts';

/** How long everything is written that the failover loses. */
const lossMs = 5_000;

/** A failover that loses writes: who has read what was lost is told so, and who has not misses nothing. */
export const lossScenario: Scenario = {
  name: 'loss',
  summary: 'a failover with asynchronous replication that loses writes: cursors behind the loss go on, those beyond it expire',
  missing: missingProgram,
  async run(context) {
    const { expect, figure } = context;
    const deployment = await startDeployment(context, false);
    const { query, separateStandby, failOver, untilReady } = deployment;
    const behind = startFollowers(context, deployment);
    const beyond = startFollowers(context, deployment);
    const before = startActivity(context, deployment, { writers: 1, paceMs: 50 });
    await before.more();
    await Promise.all(behind.map((follower) => follower.suspend()));
    // What they have read, the standby has.
    const [{ lsn } = {}] = await query('select pg_current_wal_flush_lsn() as lsn');
    const isReplayed = `select from pg_stat_replication where replay_lsn >= '${lsn}'`;
    await until(async () => (await query(isReplayed)).length > 0, 'the standby has what was read');
    await separateStandby();
    const seenBefore = beyond.map(({ seen }) => seen.length);
    await pause(lossMs);
    const lostNumbers = (await query('select id from event')).map(({ id }) => id);
    await before.stop();
    await Promise.all(beyond.map((follower) => follower.suspend()));
    expect(
      beyond.every(({ seen }, index) => seen.length > (seenBefore[index] ?? 0)),
      'a follower has read nothing of what is lost',
    );

    await failOver();
    await untilReady();
    // The first half asks at once, the others when the positions of what was lost have other events.
    const [soon, late] = [beyond.slice(0, 3), beyond.slice(3)];
    for (const follower of [...soon, ...behind]) follower.resume();
    const after = startActivity(context, deployment, { writers: 2, paceMs: 0 });
    const isReached = async () => {
      const { length } = await query('select from event');
      return length > lostNumbers.length * 1.5;
    };
    await until(isReached, 'there are more events than there were before the loss', 120_000);
    for (const follower of late) follower.resume();
    await until(
      () => beyond.every(({ isExpired }) => isExpired),
      () => `the cursors expire: ${beyond.filter(({ isExpired }) => !isExpired).map(({ name }) => name)}`,
    );
    await after.stop();
    const table = await readEvents(deployment);
    await Promise.all(behind.map((follower) => follower.finish()));
    const kept = new Set(table.map(({ globalId }) => globalId));
    const lost = new Set(beyond.flatMap(({ seen }) => seen).flatMap(({ id }) => (kept.has(id) ? [] : [id])));
    figure(`${lost.size} events that were read are lost: ${beyond.length} of ${beyond.length} cursors beyond them expired`);
    expect(lost.size > 0, 'the failover lost nothing');
    checkFollowers(context, behind, table);
  },
};
