import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { untilAccepting } from '../database.ts';
import type { Ends } from '../ends.ts';
import { deployFile } from './deploy.ts';
import { startProgram } from './programs.ts';

/** PgBouncer in transaction mode, with the file of `deploy/`. */
export interface PgBouncer {
  /** The URL of the database behind it. */
  readonly url: string;
  /** Kills it and starts it again. */
  restart(): Promise<void>;
  /** Puts it in front of another server, as an operator does after a failover: edits its file, and has it read again. */
  moveTo(serverPort: number): void;
}

/**
 * Starts PgBouncer in front of a database, and waits until it serves.
 *
 * @param serverUrl the database behind it, on this machine.
 * @param poolSize how many connections to the server its clients share.
 */
export async function startPgBouncer(
  { folder, onEnd, onFailure }: Ends,
  serverUrl: string,
  poolSize: number,
): Promise<PgBouncer> {
  const { username, password, port: serverPort, pathname } = new URL(serverUrl);
  const port = await freePort();
  const users = join(folder, 'userlist.txt');
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o644 });
  const configure = (behind: number | string) =>
    deployFile(folder, 'pgbouncer/pgbouncer.ini', {
      // By name: of databases that it finds by itself, PgBouncer does not read the server again.
      '* = host=127.0.0.1 port=5432': `${pathname.slice(1)} = host=127.0.0.1 port=${behind}`,
      'listen_port = 6432': `listen_port = ${port}`,
      'auth_file = /etc/pgbouncer/userlist.txt': `auth_file = ${users}`,
      'default_pool_size = 20': `default_pool_size = ${poolSize}`,
    });
  const file = configure(serverPort);
  const start = () => startProgram(folder, 'pgbouncer', ['pgbouncer', file]);
  let bouncer = start();
  onEnd(() => bouncer.stop('SIGINT'));
  onFailure(() => bouncer.log());
  const url = `postgresql://${username}:${password}@127.0.0.1:${port}${pathname}`;
  await untilAccepting(
    () => url,
    () => `PgBouncer serves\n${bouncer.log()}`,
  );
  return {
    url,
    async restart() {
      await bouncer.stop('SIGKILL');
      bouncer = start();
    },
    moveTo(serverPort) {
      configure(serverPort);
      process.kill(bouncer.pid, 'SIGHUP');
    },
  };
}
