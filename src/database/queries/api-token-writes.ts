import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../client.ts';

/** Writes of API tokens. */
export interface ApiTokenWrites {
  /** Records when API tokens were last used, by their ids; never moves a time backwards. */
  recordApiTokenUses(uses: ReadonlyMap<number, Date>): Promise<void>;
}

/** Binds the writes of API tokens to a database. */
export function bindApiTokenWrites({ query }: Pick<Database, 'query'>): ApiTokenWrites {
  return {
    async recordApiTokenUses(uses) {
      await query('stamp-api-tokens', stampApiTokens, [[...uses.keys()], [...uses.values()]]);
    },
  };
}

/** In the order of the ids and never backwards, because several instances write the same rows. */
const stampApiTokens = `
  update api_token set last_used_at = used.at
  from (select * from unnest($1::int[], $2::timestamptz[]) as use (id, at) order by id) as used
  where api_token.id = used.id and (last_used_at is null or last_used_at < used.at)`;

/** The number of the advisory lock that instances take before they issue the first API token. */
const firstTokenLock = 727_074;

/** Waits until no other transaction issues the first API token, and keeps others from it until this one ends. */
export async function lockFirstApiToken(transaction: Pick<Prisma.TransactionClient, '$executeRaw'>): Promise<void> {
  await transaction.$executeRaw`select pg_advisory_xact_lock(${firstTokenLock})`;
}
