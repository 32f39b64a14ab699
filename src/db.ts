import { type ApiTokenLookups, bindApiTokenLookups } from './api-tokens/statements.ts';
import { bindEventStatements, type EventStatements } from './audit-log/statements/events-of-groups.ts';
import { createBatchLoader, type Load, maxLookupKeys } from './database/batch-loader.ts';
import type { Database } from './database/client.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import { findKeyIdsOfTokens, findKeysOfLiveTokens } from './key-rotation/statements.ts';
import { bindUserGroupLookups, type UserGroupLookups } from './user-groups/statements/look-up.ts';
import { bindUserGroupPages, type UserGroupPages } from './user-groups/statements/pages.ts';

/** Which encryption keys tokens are stored under. For a token that is in neither table. */
interface KeysOfTokens {
  /** The ids of the encryption keys of the tables with tokens, in hexadecimal. */
  readonly keyIdsOfTokens: Load<'all', readonly string[]>;
  /** Whether the key with this id encrypts tokens that still identify a group; undefined if not. For keys that are missing. */
  readonly hasLiveTokens: Load<string, true>;
}

/** The statements of user groups that requests share. */
export interface UserGroupStatements extends UserGroupLookups, UserGroupPages, KeysOfTokens {}

/**
 * The database: Prisma's client, whose models `userGroup`, `apiToken` and `event` also have statements. Keys that are
 * requested in one turn of the event loop are sent in one statement.
 *
 * Every method runs where this client does: on the pool, or in the transaction of a request with an Idempotency-Key. Errors of
 * the server have the SQLSTATE as their code, such as 23505, not P2002.
 *
 * @example
 * await db.userGroup.findByTeamId(7); // a statement that requests share
 * await db.userGroup.findMany({ where: { name: 'ACME' } }); // the model API
 */
export type Db = PrismaClient & {
  readonly userGroup: UserGroupStatements;
  readonly apiToken: ApiTokenLookups;
  readonly event: EventStatements;
};

/** What sends statements: a database, or one of its transactions. */
type Statements = Pick<Database, 'prisma' | 'query' | 'transaction' | 'lookups'>;

/** Extends Prisma's client by the look-ups. */
export function createDb(database: Statements): Db {
  return database.prisma.$extends({ name: 'statements', model: statementsOn(database) }) as unknown as Db;
}

/**
 * The same in a transaction, look-ups and pages too: they see what it wrote. Not by `$extends`, which would take a tenth of the
 * time of a request; and the client of the transaction is only created, which takes milliseconds, once the model API or raw SQL
 * is used.
 */
export function createTransactionDb(transaction: Statements): Db {
  const { userGroup, apiToken, event } = statementsOn(transaction);
  return withFallback(
    {
      userGroup: withFallback(userGroup, () => transaction.prisma.userGroup),
      apiToken: withFallback(apiToken, () => transaction.prisma.apiToken),
      event: withFallback(event, () => transaction.prisma.event),
    },
    () => transaction.prisma,
  ) as Db;
}

/** An object with the members of `own`, and every other one of an object that is only created for it. */
function withFallback<Own extends object, Fallback extends object>(own: Own, fallback: () => Fallback): Own & Fallback {
  return new Proxy(own, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name);
      const other = fallback();
      const member: unknown = Reflect.get(other, name);
      return typeof member === 'function' ? member.bind(other) : member;
    },
  }) as Own & Fallback;
}

/** An extension's methods, as a type that Prisma's accepts: an interface lacks the index signature that it wants. */
type Methods<Interface> = { [Name in keyof Interface]: Interface[Name] };

function statementsOn(database: Pick<Statements, 'query' | 'transaction' | 'lookups'>): {
  userGroup: Methods<UserGroupStatements>;
  apiToken: Methods<ApiTokenLookups>;
  event: Methods<EventStatements>;
} {
  const { lookups = database } = database;
  return {
    userGroup: {
      ...bindUserGroupLookups(lookups),
      ...bindUserGroupPages(lookups),
      keyIdsOfTokens: createBatchLoader<'all', readonly string[]>({
        keyOf: (all) => all,
        maxKeys: 1,
        load: async () => new Map([['all', await findKeyIdsOfTokens(lookups)]]),
      }),
      hasLiveTokens: createBatchLoader<string, true>({
        keyOf: (id) => id,
        maxKeys: maxLookupKeys,
        load: async (ids) => new Map((await findKeysOfLiveTokens(lookups, ids)).map((id) => [id, true])),
      }),
    },
    apiToken: { ...bindApiTokenLookups(lookups) },
    event: { ...bindEventStatements(database) },
  };
}
