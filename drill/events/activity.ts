import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { testKey } from '../../test/support/keys.ts';
import { binary, launch } from '../../test/support/process.ts';
import { send } from '../client.ts';
import { checkWriters } from '../faults/check-writers.ts';
import { startWriters, type Writers } from '../faults/writers.ts';
import type { ScenarioContext } from '../scenario.ts';
import type { Deployment } from './deployment.ts';

/** What makes events: writers of both environments, transactions that stay open before their commit, and imports. */
export interface Activity {
  /** The numbers of the events of transactions of the drill, with when their commit was acknowledged, by `performance.now()`. */
  readonly commits: ReadonlyMap<string, number>;
  /** Waits until each writer has written more. */
  more(): Promise<void>;
  /** Ends it. */
  stop(): Promise<void>;
  /** Ends it, and checks that every write that was acknowledged is stored. */
  check(): Promise<void>;
}

/** How much there is of it. */
interface Amount {
  readonly writers: number;
  /** How long each writer pauses before it creates a group. */
  readonly paceMs: number;
}

/** How many transactions of the drill are open at a time, and for how long at most. */
const openTransactions = 3;
const openMs = 2_000;

/** More than the lines of one transaction of an import, so that each import has several events. */
const importedLines = 3_500;

/** Starts it; it ends with the scenario at the latest. */
export function startActivity(context: ScenarioContext, deployment: Deployment, { writers, paceMs }: Amount): Activity {
  const { testing, customer } = deployment.tokens;
  const both: Writers[] = [testing, customer].map((token) => startWriters(deployment.port, token, context, writers, paceMs));
  const commits = new Map<string, number>();
  const stopped = new AbortController();
  const running: Promise<unknown>[] = [];
  const end = async () => {
    stopped.abort();
    await Promise.all(running);
  };
  context.onEnd(end);
  const importing = importRepeatedly(context, deployment, stopped.signal);
  running.push(importing);
  for (let index = 0; index < openTransactions; index += 1)
    running.push(holdOpen(deployment, `held ${index}`, commits, stopped.signal));
  return {
    commits,
    more: async () => void (await Promise.all(both.map((each) => each.more(30)))),
    async stop() {
      await Promise.all([end(), ...both.map((each) => each.stop())]);
    },
    async check() {
      await end();
      const imports = await importing;
      context.figure(`${imports} imports, ${commits.size} commits some time after their insert`);
      context.expect(imports > 0, 'no import was completed');
      for (const each of both) await checkWriters(context, each, deployment);
    },
  };
}

/** Changes a group in transactions that stay open, while a gateway changes it too. Faults end a transaction, not the loop. */
async function holdOpen(deployment: Deployment, id: string, commits: Map<string, number>, signal: AbortSignal) {
  const { testing: token } = deployment.tokens;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const group = await send(deployment.port(), 'GET', '/api/user', { token, body: { user_group_id: id } });
    const teamId = group.json?.user_group?.team_id;
    const client = new pg.Client(deployment.url);
    client.on('error', () => {});
    try {
      if (group.status !== 200) throw new Error('the group could not be read');
      await client.connect();
      await client.query('begin');
      await client.query('select from user_group where team_id = $1 for update', [teamId]);
      const inserted = await client.query<{ id: string }>(
        `insert into event (type, environment, actor_kind, actor_name, team_id, provided_id)
         values ('user_group.updated', 'Testing', 'CLI', 'drill', $1, $2) returning id`,
        [teamId, id],
      );
      const body = { user_group_id: id, name: String(turn) };
      const next = send(deployment.port(), 'PUT', '/api/user', { token, body });
      await pause(Math.random() * openMs);
      await client.query('commit');
      for (const row of inserted.rows) commits.set(row.id, performance.now());
      await next;
    } catch {
      await pause(100);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Imports a file again and again, each time with other names. @returns how many imports were completed. */
async function importRepeatedly({ folder, onEnd }: ScenarioContext, { url }: Deployment, signal: AbortSignal): Promise<number> {
  const file = join(folder, 'groups.ndjson');
  const args = [binary, 'groups', 'import', file, '--environment', 'Testing', '--on-existing', 'update'];
  const environment = { DATABASE_URL: url, DB_NAMED_STATEMENTS: 'false', ENCRYPTION_KEYS: testKey };
  let completed = 0;
  let kill: (() => void) | undefined;
  let isOver = false;
  onEnd(() => {
    isOver = true;
    kill?.();
  });
  for (let turn = 0; !signal.aborted && !isOver; turn += 1) {
    const line = (index: number) => JSON.stringify({ user_group_id: `imported ${index}`, name: `${turn}` });
    writeFileSync(file, Array.from({ length: importedLines }, (_, index) => line(index)).join('\n'));
    const { child, ended } = launch(process.execPath, args, environment);
    kill = () => void child.kill('SIGKILL');
    if ((await ended).code === 0) completed += 1;
  }
  return completed;
}
