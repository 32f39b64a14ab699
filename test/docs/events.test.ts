import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endProcesses, launch, until } from '../support/process.ts';
import { snippetsOf } from '../support/snippets.ts';

/** An event as the example returns it. */
interface Event {
  readonly id: string;
  readonly type: string;
  readonly provided_id: string;
  readonly changes: Readonly<Record<string, { readonly to: unknown }>>;
}

type Pages = AsyncGenerator<{ events: Event[]; cursor: string }>;

let gateway: TestGateway;
let follow: (after?: string) => Pages;
/** An API token of each environment that may write. */
let writers: string[];
let reader: string;
beforeAll(async () => {
  gateway = await startGateway();
  vi.stubEnv('GATEWAY', gateway.url);
  const [example] = snippetsOf('docs/events.md').filter(({ language }) => language === 'js');
  ({ follow } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(example?.text ?? '')}`));
  const environments = ['Customer', 'Testing', null] as const;
  const issued = await Promise.all(environments.map((environment) => gateway.issue({ environment, scopes: ['groups:write'] })));
  writers = issued.map(({ secret }) => secret);
  reader = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
beforeEach(() => void vi.stubEnv('AUDIT_API_TOKEN', reader));
afterEach(endProcesses);
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway.close();
});

/** Reads pages until one has an event that is the last of what a test waits for. */
async function readUntil(pages: Pages, isLast: (event: Event) => boolean): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const { value } = await pages.next();
    events.push(...value.events);
    if (value.events.some(isLast)) return events;
  }
}

/** The pages of what happens from now on. */
async function fromNow(): Promise<Pages> {
  const pages = follow('latest');
  expect((await pages.next()).value.events).toEqual([]);
  return pages;
}

/** Makes requests with an Idempotency-Key wait between their change and its commit. */
async function holdCommits() {
  const holder = new pg.Client(gateway.database.url);
  await holder.connect();
  holder.on('error', () => {});
  onTestFinished(() => holder.end());
  await holder.query('begin; lock table idempotency_record in exclusive mode');
  const waiting = `select 1 from pg_locks join pg_database d on d.oid = database
    where not granted and relation = 'idempotency_record'::regclass and datname = current_database()`;
  return {
    untilWaiting: (count: number) =>
      until(async () => (await holder.query(waiting)).rowCount === count, `${count} transactions wait before their commit`),
    release: () => holder.query('commit'),
  };
}

const create = (token: string | undefined, id: string) =>
  gateway.send('GET', '/api/user', { token: token ?? '', body: { user_group_id: id } });

/** Updates a group as it was created, in a transaction of several statements: one of its own, because it is conditional. */
const updateWithKey = (token: string, id: string) =>
  gateway.send('PUT', '/api/user', {
    token,
    headers: { 'idempotency-key': `update-${id}`, 'if-match': '"1"' },
    body: { user_group_id: id, name: 'updated' },
  });

const updated = (events: readonly Event[]) =>
  events.filter(({ type }) => type === 'user_group.updated').map(({ provided_id: id }) => id);

test('the example returns every event once, those of transactions that were open included', async () => {
  const pages = await fromNow();
  for (const [index, token] of writers.entries()) await create(token, `group-${index}`);
  const first = await readUntil(pages, (event) => event.provided_id === 'group-2');
  const commits = await holdCommits();
  const updates = writers.map((token, index) => updateWithKey(token, `group-${index}`));
  await commits.untilWaiting(writers.length);
  for (const [index, token] of writers.entries()) await create(token, `later-${index}`);
  const second = await readUntil(pages, (event) => event.provided_id === 'later-2');
  await commits.release();
  expect((await Promise.all(updates)).map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const [index, token] of writers.entries()) await create(token, `last-${index}`);
  const third = await readUntil(pages, (event) => event.provided_id === 'last-2');

  expect(updated([...first, ...second])).toEqual([]);
  expect(updated(third).sort()).toEqual(['group-0', 'group-1', 'group-2']);
  const ids = [first, second, third].flat().map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([12, 12]);
});

test('the example reports an expired cursor', async () => {
  const { rows } = await gateway.database.pool.query('select removed_through from event_feed');
  const { json } = await gateway.send('GET', '/api/events?limit=1', { token: reader });
  await gateway.database.pool.query('update event_feed set removed_through = last_position');
  await expect(follow(json.cursor).next()).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  await gateway.database.pool.query('update event_feed set removed_through = $1', [rows[0].removed_through]);
});

test('the example returns an event of each transaction of an import', async () => {
  const pages = await fromNow();
  const lines = Array.from({ length: 2_500 }, (_, index) => `${JSON.stringify({ user_group_id: `imported-${index}` })}\n`);
  const settings = { DATABASE_URL: gateway.database.url };
  const { child, ended } = launch(
    process.execPath,
    ['dist/main.js', 'groups', 'import', '-', '--environment', 'none'],
    settings,
    {
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  child.stdin?.end(lines.join(''));
  expect(await ended).toMatchObject({ code: 0 });
  const all = await readUntil(pages, ({ changes }) => changes?.['created']?.to === 500);
  expect(all.map(({ type, changes }) => [type, changes['created']?.to])).toEqual(
    [1_000, 1_000, 500].map((created) => ['user_group.imported', created]),
  );
  for (const name of ['import', 'startedAt']) expect(new Set(all.map(({ changes }) => changes[name]?.to)).size).toBe(1);
  const changed =
    'query ($from: DateTime!) { userGroups(filter: { updatedAt: { from: $from }, search: "imported-" }) { totalCount } }';
  const { json: groups } = await gateway.graphql(changed, { from: all[0]?.changes['startedAt']?.to }, { token: reader });
  expect(groups.data.userGroups.totalCount).toBe(2_500);
});
