import { createFeedWatch } from '../../src/audit-log/feed-watch.ts';
import { bindFeed } from '../../src/audit-log/statements/feed.ts';
import type { Database } from '../../src/database/client.ts';
import type { Transaction } from '../../src/database/transaction.ts';
import { createDb, createTransactionDb, type Db } from '../../src/db.ts';
import { SigningKeys } from '../../src/embed-tokens/signing-keys.ts';
import { bindSigningKeys } from '../../src/embed-tokens/statements/signing-keys.ts';
import { bindViewerGenerations } from '../../src/embed-tokens/statements/viewer-generations.ts';
import type { Services } from '../../src/user-groups/user-groups.ts';
import { testKeys } from './keys.ts';

/** What the domain works with, on one database, with the tests' key. Embed tokens have the issuer `http://gateway.test`. */
export function bindQueries(database: Pick<Database, 'prisma' | 'query' | 'transaction'>): Services {
  return bind(createDb(database), database);
}

/** The same in a transaction, as requests with an Idempotency-Key have it. */
export function bindUnit(transaction: Transaction): Services {
  return bind(createTransactionDb(transaction), transaction);
}

function bind(db: Db, sql: Services['sql']): Services {
  const feed = bindFeed(sql);
  return {
    db,
    sql,
    feed,
    feedWatch: createFeedWatch(feed),
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
