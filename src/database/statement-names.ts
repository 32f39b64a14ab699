import { createHash } from 'node:crypto';
import type pg from 'pg';

/** How many texts of Prisma's get a name: lists have thousands, by their filters, and each connection keeps what it prepared. */
const maxNamedTexts = 200;

/** Of SQLSTATE 0A000, but where in the server, in every language. */
const stalePlanRoutine = 'RevalidateCachedQuery';

/** The names under which the connections of a pool prepare statements. */
export interface StatementNames {
  /** The name of a statement now. @param name identifies its text. */
  of(name: string): string;
  /** The same name for the same text; none when there are too many. */
  ofText(text: string): string | undefined;
  /**
   * Has every statement prepared again once the server rejects one on this connection because its columns have other types than
   * when it was prepared, as after a dump was restored into the database. The other connections have prepared it, too.
   */
  follow(client: pg.Client): void;
}

/** Creates the names of a pool's statements. */
export function createStatementNames(): StatementNames {
  const named = new Map<string, string>();
  let renewals = 0;
  const of = (name: string): string => (renewals === 0 ? name : `${name}#${renewals}`);
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
    follow(client) {
      client.connection.on('errorMessage', ({ routine }: { routine?: string }) => {
        if (routine === stalePlanRoutine) renewals += 1;
      });
    },
  };
}
