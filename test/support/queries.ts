import type { Database } from '../../src/database/client.ts';
import { createDb, createUnitDb, type Db } from '../../src/database/queries/db.ts';
import { bindSigningKeys } from '../../src/database/queries/signing-keys.ts';
import type { WorkUnit } from '../../src/database/work-unit.ts';
import { createEventBytes } from '../../src/domain/event-limits.ts';
import { SigningKeys } from '../../src/domain/signing-keys.ts';
import type { Services } from '../../src/domain/user-groups.ts';
import { testKeys } from './keys.ts';

/** What the domain works with, on one database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'transaction'>): Services {
  return bind(createDb(database), database);
}

/** The same in a transaction, as requests with an Idempotency-Key have it. */
export function bindUnit(unit: WorkUnit): Services {
  return bind(createUnitDb(unit), unit);
}

function bind(db: Db, { query }: Pick<Database, 'query'>): Services {
  return {
    db,
    keys: testKeys,
    eventBytes: createEventBytes(),
    embedTokens: { signingKeys: new SigningKeys(bindSigningKeys({ query }), testKeys), publicUrl: () => 'http://gateway.test' },
  };
}
