/** The names under which connections of the gateway are listed in `pg_stat_activity`. */
export const applicationNames = {
  /** Of a process's pool. */
  pool: 'user-group-gateway',
  /** Begins the name of a connection that is open as long as a process uses the bundled server; its own name follows. */
  presencePrefix: 'user-group-gateway-presence-',
  /** Of connections that look for the server that takes writes. */
  failover: 'user-group-gateway-failover',
  /** Of the connection of a backup. */
  backup: 'user-group-gateway-backup',
} as const;
