import { createHash } from 'node:crypto';
import { isStalePlan } from './errors.ts';

/** How many texts of Prisma's get a name: lists have thousands, by their filters, and each connection keeps what it prepared. */
const maxNamedTexts = 200;

/** PostgreSQL takes two names for one that begin with the same bytes, as many as these. */
const maxNameBytes = 63;

/** The names under which the connections of a pool prepare statements. */
export type StatementNames = ReturnType<typeof createStatementNames>;

/** Creates the names of a pool: none has been renewed. */
export function createStatementNames() {
  const named = new Map<string, string>();
  let generation = 0;
  /** The name of a statement now. @param name identifies its text. */
  const of = (name: string): string => {
    const now = generation === 0 ? name : `${name}#${generation}`;
    if (now.length > maxNameBytes) throw new RangeError(`The name ${now} of a statement is longer than PostgreSQL's.`);
    return now;
  };
  return {
    of,
    /** The same name for the same text; none when there are too many. */
    ofText(text: string): string | undefined {
      let name = named.get(text);
      if (name === undefined) {
        if (named.size >= maxNamedTexts) return undefined;
        name = createHash('sha1').update(text).digest('base64url');
        named.set(text, name);
      }
      return of(name);
    },
    /**
     * Runs a statement whose name is taken at once. If the server rejects it because its columns have other types than when it
     * was prepared, as after a dump was restored into the database, every statement gets another name, and so is prepared again:
     * the other connections have prepared it, too. Does not repeat the statement.
     */
    async renewAfter<Result>(send: () => Promise<Result>): Promise<Result> {
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
