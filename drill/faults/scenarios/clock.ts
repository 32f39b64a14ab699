import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { clusterOf, findServer } from '../../../src/database/bundled.ts';
import { type Reply, send, sendGraphQL } from '../../client.ts';
import { untilAccepting } from '../../database.ts';
import { endGateway, Instance, startPostgres } from '../../instance.ts';
import type { Scenario } from '../../scenario.ts';
import { checkWriters } from '../check-writers.ts';
import { startWriters } from '../writers.ts';

const createToken = `mutation ($expiresAt: DateTime) {
  result: createApiToken(input: { name: "expiring", environmentTag: TESTING, scopes: [GROUPS_READ], expiresAt: $expiresAt }) {
    ... on CreateApiTokenPayload { secret }
  }
}`;
const lastUsed = '{ caller { lastUsedAt } }';
const read = '{ userGroups(first: 1) { totalCount } }';

/** The clocks after each step, as an offset to the real time in hours, and what must hold then. */
const steps = [
  { name: 'both 30 min ahead', database: 0.5, gateway: 0.5, isExpired: false },
  { name: 'both 2 h ahead', database: 2, gateway: 2, isExpired: true },
  { name: 'both back', database: 0, gateway: 0, isExpired: false },
  { name: 'both 2 h behind', database: -2, gateway: -2, isExpired: false },
  { name: 'gateway 2 h ahead of the database', database: 0, gateway: 2, isExpired: false },
  { name: 'gateway 2 h behind the database', database: 0, gateway: -2, isExpired: false },
  { name: 'database 2 h ahead of the gateway', database: 2, gateway: 0, isExpired: true },
] as const;

/** Debian's libfaketime for processes with threads. */
function findLibrary(): string | undefined {
  try {
    return readdirSync('/usr/lib')
      .map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
      .find((file) => existsSync(file));
  } catch {
    return undefined;
  }
}

/** Steps of the clocks of the gateway and of PostgreSQL. Monotonic clocks go on, as they do when a clock is set. */
export const clockScenario: Scenario = {
  name: 'clock',
  summary: 'the clocks of gateway and database step by hours, together and apart, while writers run',
  missing: () =>
    findLibrary()
      ? undefined
      : 'The clock can be set for these processes with libfaketime only: apt-get install --no-install-recommends libfaketime',
  async run(context) {
    const { folder, figure, expect, onEnd } = context;
    const files = { database: join(folder, 'database-clock'), gateway: join(folder, 'gateway-clock') };
    const set = (which: keyof typeof files, hours: number) =>
      writeFileSync(files[which], `${hours < 0 ? '-' : '+'}${Math.abs(hours) * 3_600}\n`, { mode: 0o644 });
    const clockOf = (which: keyof typeof files) => ({
      LD_PRELOAD: findLibrary() as string,
      FAKETIME_TIMESTAMP_FILE: files[which],
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    for (const which of ['database', 'gateway'] as const) set(which, 0);

    const instance = new Instance(context);
    const server = await startPostgres(instance, onEnd);
    const { port: databasePort } = new URL(server.url);
    await server.end('SIGINT');
    const { folder: home, user } = await findServer(instance.path);
    const log = openSync(join(folder, 'postgres.log'), 'a');
    const place = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=.'];
    spawn(join(home, 'bin', 'postgres'), ['-D', clusterOf(instance.path), '-p', databasePort, ...place], {
      cwd: home,
      stdio: ['ignore', log, log],
      env: { LC_ALL: 'C', ...clockOf('database') },
      ...user,
    });
    await untilAccepting(() => server.url);
    const gateway = await instance.start({ DATABASE_URL: server.url, ...clockOf('gateway') });
    onEnd(() => endGateway(gateway, 'SIGKILL').then(() => {}));
    const { port } = gateway;
    const { token, admin } = instance;

    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const expiring: string = (await sendGraphQL(port, createToken, { expiresAt }, { token: admin })).json.data.result.secret;
    const created = await send(port, 'GET', '/api/user', { token, body: { user_group_id: 'rotated' } });
    const rotation = { token, idempotencyKey: 'clock', body: { current_token: created.json.user_group.token } };
    const first = await send(port, 'POST', '/api/user', rotation);
    expect(first.status === 200, `the rotation got ${first.status}`);
    let previousUse = '';
    let wrongExpiries = 0;
    let replays = 0;
    const writers = startWriters(() => port, token, context);
    for (const { name, database, gateway: gatewayHours, isExpired } of steps) {
      await writers.more(40);
      set('database', database);
      set('gateway', gatewayHours);
      await pause(100);
      await writers.more(40);
      const expired: Reply = await sendGraphQL(port, read, {}, { token: expiring });
      if ((expired.status === 401) !== isExpired) wrongExpiries += 1;
      expect((expired.status === 401) === isExpired, `${name}: the expiring token got ${expired.status}`);
      const again = await send(port, 'POST', '/api/user', rotation);
      if (again.text === first.text) replays += 1;
      expect(
        again.status === 200 && again.text === first.text,
        `${name}: the rotation was not replayed: ${again.status} ${again.text.slice(0, 200)}`,
      );
      const ready = await send(port, 'GET', '/readyz');
      expect(ready.status === 200, `${name}: /readyz responded with ${ready.status}`);
      const use: string = (await sendGraphQL(port, lastUsed, {}, { token })).json?.data?.caller?.lastUsedAt ?? '';
      expect(use >= previousUse, `${name}: the last use went back from ${previousUse} to ${use}`);
      previousUse = use;
    }
    await writers.more(40);
    expect(writers.refused + writers.closed === 0, `${writers.refused + writers.closed} requests failed`);
    await checkWriters(context, writers, instance);
    figure(
      `${steps.length} steps of up to 4 h: ${wrongExpiries} wrong decisions about an expiring API token, ${replays} of ${steps.length} replays of an earlier rotation, last use never went back`,
    );
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);
    await endGateway(gateway, 'SIGTERM');
    await server.end('SIGINT');
  },
};
