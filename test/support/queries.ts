import type { Database } from '../../src/database/client.ts';
import { type ExtendedPrisma, extendPrisma, extendPrismaInUnit } from '../../src/database/queries/extended-prisma.ts';
import { bindSigningKeys } from '../../src/database/queries/signing-keys.ts';
import type { WorkUnit } from '../../src/database/work-unit.ts';
import { createEventBytes } from '../../src/domain/event-limits.ts';
import { SigningKeys } from '../../src/domain/signing-keys.ts';
import type { Db } from '../../src/domain/user-groups.ts';
import { testKeys } from './keys.ts';

/** The database access of the domain, on one database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'transaction'>): Db {
  return bind(extendPrisma(database), database);
}

/** The same in a transaction, as requests with an Idempotency-Key have it. */
export function bindUnit(unit: WorkUnit): Db {
  return bind(extendPrismaInUnit(unit), unit);
}

function bind(prisma: ExtendedPrisma, { query }: Pick<Database, 'query'>): Db {
  return {
    prisma,
    keys: testKeys,
    eventBytes: createEventBytes(),
    embedTokens: { signingKeys: new SigningKeys(bindSigningKeys({ query }), testKeys), publicUrl: () => 'http://gateway.test' },
  };
}
