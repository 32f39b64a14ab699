import type pg from 'pg';

/**
 * Ends a transaction without its changes and returns the connection. One that may still have the transaction is closed: what
 * others did on it would never be committed.
 */
export async function rollBack(client: pg.PoolClient): Promise<void> {
  const isBroken = await client.query('rollback').then(
    () => false,
    () => true,
  );
  client.release(isBroken);
}
