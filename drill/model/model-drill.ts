import { randomInt } from 'node:crypto';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import fc from 'fast-check';
import { replay } from '../../test/support/replay.ts';
import { type Drill, print } from '../drill.ts';
import type { FaultRow } from '../faults/fault-row.ts';
import { runRows } from '../run-rows.ts';
import { startGateways } from './gateways.ts';
import { type Coverage, runHistory } from './history.ts';
import { steps } from './steps.ts';

const defaultRuns = 60;

/** What the default number of histories must have had; otherwise the comparison proves little. */
const required = [
  ...['getOrCreate created', 'getOrCreate found', 'getOrCreate CONFLICT', 'getOrCreate FORBIDDEN'],
  ...['bulk getOrCreate created', 'bulk getOrCreate found', 'update found', 'update NOT_FOUND', 'patch found'],
  ...['delete deleted', 'setEnvironment found', 'setEnvironment CONFLICT', 'rotate found', 'rotate NOT_FOUND', 'find found'],
];

/** Random histories of several clients on three gateways that are killed at random, compared with the model of the rules. */
export const modelDrill: Drill = {
  name: 'model',
  summary: 'compares random histories on three gateways, which are killed at random, with a model of the rules',
  help: `Usage: npm run drill -- model [options]

Runs three gateways on one database, sends random concurrent requests of four callers, with and without Idempotency-Key, kills
gateways at random, and checks after each step that some order of the operations explains every response and what a list shows;
of requests without a response, whether they were executed or not. At the end of a history, every keyed request is sent again,
and must get its first response; at the end of all, the audit log must lead to what is stored.

  --runs N      how many histories (default: ${defaultRuns})
  --seed N      the seed of an earlier run
`,
  async run(args, totals, signal) {
    const { values } = parseArgs({ args, options: { runs: { type: 'string' }, seed: { type: 'string' } } });
    const runs = Number(values.runs ?? defaultRuns);
    const seed = Number(values.seed ?? randomInt(2 ** 31));
    if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(seed))
      throw new Error('--runs and --seed take whole numbers.');
    print(`npm run drill -- model --runs ${runs} --seed ${seed}\n`);
    return (await runRows([modelRow(runs, seed)], totals, signal)) ? 0 : 1;
  },
};

const modelRow = (runs: number, seed: number): FaultRow => ({
  name: 'model',
  summary: 'random histories',
  async run(context) {
    const gateways = await startGateways(context);
    const coverage: Coverage = {
      ...{ histories: 0, operations: 0, crashes: 0, unknown: 0, refetched: 0, replayed: 0 },
      seen: new Set(),
    };
    // Without shrinking: another order of events would be another history.
    const property = fc.asyncProperty(steps, (sequence) => runHistory(gateways, sequence, coverage));
    const { failed, errorInstance } = await fc.check(property, { numRuns: runs, seed, endOnFailure: true });
    const { histories, operations, crashes, unknown, refetched, replayed, seen } = coverage;
    context.totals.kills += crashes;
    context.figure(
      `seed ${seed}: ${histories} histories, ${operations} operations, ${crashes} kills, ${seen.size} kinds of results`,
    );
    context.figure(
      `${unknown} operations without a response; ${refetched} fetched again with their key; ${replayed} replayed at the end`,
    );
    context.expect(!failed, `${(errorInstance as Error | undefined)?.message}`);
    const absent = [
      ...required.filter((kind) => !seen.has(kind)),
      ...Object.entries({ crashes, unknown, refetched, replayed }).flatMap(([name, count]) => (count > 0 ? [] : [name])),
    ];
    context.expect(runs < defaultRuns || failed || absent.length === 0, `never happened: ${absent.join(', ')}`);

    const { events, groups } = await gateways.instance.withDatabase(async ({ prisma }) => ({
      events: await prisma.event.findMany({ where: { teamId: { not: null } } }),
      groups: await prisma.userGroup.findMany(),
    }));
    const stored = groups.map(
      ({ teamId, providedId, environmentTag, name, properties, mapping }) =>
        [teamId, { providedId, environmentTag, name, properties, mapping }] as const,
    );
    context.expect(events.length > 0 && groups.length > 0, 'nothing is stored');
    context.expect(isDeepStrictEqual(replay(events), new Map(stored)), 'the audit log does not lead to what is stored');
    context.figure(`${events.length} events of the audit log lead to the ${groups.length} groups that are stored`);
    context.totals.notes.push(
      `model: ${histories} histories, ${operations} operations, ${crashes} kills; every one is explained`,
    );
  },
});
