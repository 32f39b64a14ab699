import type { Database } from '../../src/database/client.ts';
import { bindLookups } from '../../src/database/queries/lookups.ts';
import { bindSigningKeys } from '../../src/database/queries/signing-keys.ts';
import { bindWrites } from '../../src/database/queries/writes.ts';
import { createEventBytes } from '../../src/domain/event-limits.ts';
import { SigningKeys } from '../../src/domain/signing-keys.ts';
import type { Db } from '../../src/domain/user-groups.ts';
import { testKeys } from './keys.ts';

/** The database access of the domain, on one database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'transaction'>): Db {
  const signingKeys = new SigningKeys(bindSigningKeys(database), testKeys);
  return {
    prisma: database.prisma,
    lookups: bindLookups(database),
    writes: bindWrites(database, () => {}),
    keys: testKeys,
    eventBytes: createEventBytes(),
    embedTokens: { signingKeys, publicUrl: () => 'http://gateway.test' },
  };
}
