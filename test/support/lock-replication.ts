import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

/**
 * Waits until no other test opens connections for replication, or needs that there are none, and keeps those tests waiting until
 * this one has finished. The server has one list of these connections for the databases of all tests.
 */
export async function lockReplication(): Promise<void> {
  const client = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("select pg_advisory_lock(hashtext('replication'))");
}
