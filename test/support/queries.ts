import type { Database } from '../../src/database/client.ts';
import { bindLookups } from '../../src/database/queries/lookups.ts';
import { bindWrites } from '../../src/database/queries/writes.ts';
import type { Db } from '../../src/domain/user-groups.ts';
import { testKeys } from './keys.ts';

/** The database access of the domain, on one database, with the tests' key. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'transaction'>): Db {
  return { prisma: database.prisma, lookups: bindLookups(database), writes: bindWrites(database), keys: testKeys };
}
