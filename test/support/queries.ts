import { createFeedWatch } from '../../src/audit-log/feed-watch.ts';
import { createEventBytes } from '../../src/audit-log/record.ts';
import { bindFeed } from '../../src/audit-log/statements/feed.ts';
import type { Database } from '../../src/database/client.ts';
import type { Transaction } from '../../src/database/transaction.ts';
import { createDb, createTransactionDb, type Db } from '../../src/db.ts';
import { SigningKeys } from '../../src/embed-tokens/signing-keys.ts';
import { bindRevocations } from '../../src/embed-tokens/statements/revocations.ts';
import { bindSigningKeys } from '../../src/embed-tokens/statements/signing-keys.ts';
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

function bind(db: Db, { query }: Pick<Database, 'query'>): Services {
  const feed = bindFeed({ query });
  return {
    db,
    feed,
    feedWatch: createFeedWatch(feed),
    keys: testKeys,
    eventBytes: createEventBytes(),
    webhookNetworks: [],
    lastResolved: { note: () => {} },
    embedTokens: {
      signingKeys: new SigningKeys(bindSigningKeys({ query }), testKeys),
      revocations: bindRevocations({ query }, () => {}),
      publicUrl: () => 'http://gateway.test',
    },
  };
}
