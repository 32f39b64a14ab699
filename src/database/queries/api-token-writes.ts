import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../client.ts';
import { type Authored, authorAt, authorLists, eventEnvironment, insertEvents, secretChange } from './event-writes.ts';

/** The secret of an API token to replace, every rule checked, and who replaces it. */
export interface SecretRotation extends Authored {
  readonly id: number;
  /** SHA-256 of the secret that the caller takes for the current one, hexadecimal. */
  readonly currentHash: string;
  /** SHA-256 of the new secret, hexadecimal. */
  readonly newHash: string;
  /** How long the replaced secret stays accepted, in seconds; 0 ends it, and every secret that was replaced earlier, at once. */
  readonly overlapSeconds: number;
}

/** Writes of API tokens. */
export interface ApiTokenWrites {
  /**
   * Replaces the secret of an API token. The clock that decides is the database's, as for look-ups.
   *
   * @returns false when the API token is revoked or expired, or its current secret is another one.
   */
  replaceSecret(rotation: SecretRotation): Promise<boolean>;
  /** Records how many seconds ago API tokens were last used, by their ids; never moves a time backwards. */
  recordUses(secondsAgo: ReadonlyMap<number, number>): Promise<void>;
}

/** Binds the writes of API tokens to a database. */
export function bindApiTokenWrites({ query }: Pick<Database, 'query'>): ApiTokenWrites {
  return {
    async replaceSecret({ id, currentHash, newHash, overlapSeconds, author }) {
      const values = [id, currentHash, newHash, overlapSeconds, ...authorLists([{ author }])];
      return (await query('replace-secret', replaceSecretStatement, values)).length > 0;
    },
    async recordUses(secondsAgo) {
      await query('stamp-api-tokens', stampApiTokens, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
    },
  };
}

/**
 * A statement that waited for another rotation finds another secret and does nothing; one that finds the secret also sees every
 * secret that was replaced before. Times are cut to milliseconds, because rounding could move an end into the future.
 */
const replaceSecretStatement = `
  with replaced as (
    update api_token set secret_hash = decode($3, 'hex')
    where id = $1 and secret_hash = decode($2, 'hex') and revoked_at is null and (expires_at is null or expires_at > now())
    returning id, environment_tag
  ), ended as (
    update retired_secret r set expires_at = date_trunc('milliseconds', now()) from replaced
    where $4::int = 0 and r.api_token_id = replaced.id and r.expires_at > now()
  ), retired as (
    insert into retired_secret (secret_hash, api_token_id, expires_at)
    select decode($2, 'hex'), id, date_trunc('milliseconds', now()) + $4::int * interval '1 second' from replaced
  ), recorded as (${insertEvents({
    type: 'api_token.rotated',
    environment: eventEnvironment('environment_tag'),
    about: { subject_api_token_id: 'id' },
    changes: `'${secretChange('secret')}'`,
    author: authorAt(5, '1'),
  })}
    from replaced
  )
  select id from replaced`;

/** In the order of the ids and never backwards, because several instances write the same rows. */
const stampApiTokens = `
  update api_token set last_used_at = used.at
  from (
    select id, now() - seconds_ago * interval '1 second' as at from unnest($1::int[], $2::float8[]) as use (id, seconds_ago) order by id
  ) as used
  where api_token.id = used.id and (last_used_at is null or last_used_at < used.at)`;

/** The number of the advisory lock that instances take before they issue the first API token. */
const firstTokenLock = 727_074;

/** Waits until no other transaction issues the first API token, and keeps others from it until this one ends. */
export async function lockFirstApiToken(transaction: Pick<Prisma.TransactionClient, '$executeRaw'>): Promise<void> {
  await transaction.$executeRaw`select pg_advisory_xact_lock(${firstTokenLock})`;
}

/** Revokes an API token by its number. @returns whether it was not revoked before, and exists. */
export async function revokeUnrevoked(transaction: Pick<Prisma.TransactionClient, '$executeRaw'>, id: number): Promise<boolean> {
  return (
    (await transaction.$executeRaw`update api_token set revoked_at = now() where id = ${id}::int and revoked_at is null`) > 0
  );
}
