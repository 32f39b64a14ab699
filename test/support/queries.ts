import { createFeed } from '../../src/audit-log/feed.ts';
import type { Database } from '../../src/database/client.ts';
import type { Transaction } from '../../src/database/transaction.ts';
import { createDb, createTransactionDb, type Db } from '../../src/db.ts';
import { SigningKeys } from '../../src/embed-tokens/signing-keys.ts';
import { bindSigningKeys } from '../../src/embed-tokens/statements/signing-keys.ts';
import { bindViewerGenerations } from '../../src/embed-tokens/statements/viewer-generations.ts';
import type { Services } from '../../src/user-groups/user-groups.ts';
import { testKeys } from './keys.ts';

/** What the domain works with, on one database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'sql' | 'transaction'>): Services {
  return bind(createDb(database), database);
}

/** The same in a transaction, as requests with an Idempotency-Key have it. */
export function bindUnit(transaction: Transaction): Services {
  return bind(createTransactionDb(transaction), transaction);
}

function bind(db: Db, sql: Services['sql'] & Pick<Database, 'sql'>): Services {
  return {
    db,
    sql,
    feed: createFeed(sql.sql, new AbortController().signal),
    keys: testKeys,
    webhookNetworks: [],
    lastResolved: { note: () => {} },
    embedTokens: {
      signingKeys: new SigningKeys(bindSigningKeys(sql), testKeys),
      findViewerGeneration: bindViewerGenerations(sql),
      publicUrl: () => 'http://gateway.test',
    },
  };
}
