import { createHash } from 'node:crypto';
import { isStalePlan } from './errors.ts';

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

/** How many texts of Prisma's get a name: lists have thousands, by their filters, and each connection keeps what it prepared. */
const maxNamedTexts = 200;

/** The names under which the connections of a pool prepare statements. */
export interface StatementNames {
  /** The name of a statement now. @param name identifies its text. */
  of(name: string): string;
  /** The same name for the same text; none when there are too many. */
  ofText(text: string): string | undefined;
  /**
   * Runs a statement whose name is taken at once. If the server rejects it because its columns have other types than when it was
   * prepared, as after a dump was restored into the database, every statement gets another name, and so is prepared again: the
   * other connections have prepared it, too. Does not repeat the statement.
   */
  renewAfter<Result>(send: () => Promise<Result>): Promise<Result>;
}

/** Creates the names of a pool's statements. */
export function createStatementNames(): StatementNames {
  const named = new Map<string, string>();
  let generation = 0;
  const of = (name: string): string => (generation === 0 ? name : `${name}#${generation}`);
  return {
    of,
    ofText(text) {
      let name = named.get(text);
      if (name === undefined) {
        if (named.size >= maxNamedTexts) return undefined;
        name = createHash('sha1').update(text).digest('base64url');
        named.set(text, name);
      }
      return of(name);
    },
    async renewAfter(send) {
      const used = generation;
      try {
        return await send();
      } catch (error) {
        // Once, however many connections fail with the same names.
        if (used === generation && isStalePlan(error)) generation += 1;
        throw error;
      }
    },
  };
}
