import { insertGroupEvents, type OnRecorded, textChange } from '../../audit-log/statements/insert.ts';
import { createBatchLoader, type Load, maxLookupKeys } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes, unnest } from '../../database/columns.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { UserGroupRow, userGroupColumnCount, userGroupSelectList } from '../../user-groups/statements/columns.ts';
import { lockTarget, type Target, targetAuthor, targetValues } from '../../user-groups/statements/single-changes.ts';
import { embedTokenLimits } from '../rules.ts';

/** A viewer of a group. */
export interface ViewerKey {
  readonly teamId: number;
  readonly viewerId: string;
}

/** The embed tokens to revoke, every rule checked, and who does. */
export interface Revocation extends Target {
  /** Null for all tokens of the group. */
  readonly viewerId: string | null;
}

/** Revocations of embed tokens. */
export interface Revocations {
  /** The generation that embed tokens of a viewer must have; undefined if none was revoked within two days: any. */
  readonly findViewerGeneration: Load<ViewerKey, number>;
  /**
   * Revokes tokens, records that, and returns the group; undefined when there is no such group among those that may be changed,
   * `full` when too many of its viewers were revoked within a day.
   */
  revoke(revocation: Revocation): Promise<UserGroup | 'full' | undefined>;
}

const { maxEmbedTokenSeconds, maxRevokedViewers } = embedTokenLimits;

/**
 * How long the generation of a viewer is kept, in seconds. A day longer than a token lives: one may be created at the same time,
 * and the clock may be set back, or after a failover be that of another server.
 */
const keptRevocationSeconds = maxEmbedTokenSeconds + 86_400;

/** Binds the revocations to the database that holds the truth: a copy may not have one yet. */
export function bindRevocations({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): Revocations {
  return {
    findViewerGeneration: createBatchLoader<ViewerKey, number>({
      keyOf: ({ teamId, viewerId }) => `${teamId} ${viewerId}`,
      maxKeys: maxLookupKeys,
      load: async (keys) => {
        const values = [keys.map(({ teamId }) => teamId), keys.map(({ viewerId }) => viewerId)];
        const rows = await query('viewer-generations', viewerGenerations, values);
        return new Map(rows.map(([teamId, viewerId, generation]) => [`${teamId} ${viewerId}`, Number(generation)]));
      },
    }),
    async revoke({ viewerId, ...target }) {
      const { name, text } = viewerId === null ? ofGroup : ofViewer;
      const [row] = await query(name, text, [...targetValues(target), viewerId]);
      if (!row) return undefined;
      if (!columnTypes.boolean.decode(row[userGroupColumnCount] as string)) return 'full';
      const group = new UserGroupRow(row);
      onRecorded({ author: target.author, providedId: group.providedId, changesBytes: Buffer.byteLength(viewerId ?? '') });
      return group;
    },
  };
}

const viewerKey = [
  { sql: 'team_id', type: 'int' },
  { sql: 'viewer_id', type: 'text' },
] as const;

const viewerGenerations = `
  select key.team_id, key.viewer_id, v.generation from ${unnest(viewerKey, 'key')}
  cross join lateral (
    select generation from revoked_viewer v where v.team_id = key.team_id and v.viewer_id = key.viewer_id limit 1
  ) as v`;

/**
 * A generation, at random: also after an older backup was restored it is none that a token has. The first one of a group, before
 * any revocation, is 0.
 */
const newGeneration = '1 + floor(random() * 2147483646)::int';

const recordedFor = (table: string): string => `
  recorded as (${insertGroupEvents({
    type: 'embed_token.revoked',
    table,
    author: targetAuthor,
    changes: `case when $8::text is not null then ('{' || ${textChange('viewerId', 'null', '$8')} || '}')::json end`,
  })}
    from ${table}
  )`;

/** The generations of viewers are not needed any more: the tokens that they revoke are of another generation of the group. */
const ofGroup = {
  name: 'revoke-embed-tokens',
  text: `
  with ${lockTarget()}, updated as (
    update user_group g set embed_generation = ${newGeneration} from locked where g.team_id = locked.team_id
    returning ${userGroupSelectList('g')}
  ), superseded as (
    delete from revoked_viewer v using locked where v.team_id = locked.team_id
  ), ${recordedFor('updated')}
  select ${userGroupSelectList('updated')}, true from updated`,
};

const ofViewer = {
  name: 'revoke-embed-tokens-of-viewer',
  text: `
  with ${lockTarget()}, expired as (
    delete from revoked_viewer v using locked where v.team_id = locked.team_id and v.expires_at <= now() and v.viewer_id <> $8
  ), permitted as (
    select * from locked where ${maxRevokedViewers} > (
      select count(*) from revoked_viewer v
      where v.team_id = locked.team_id and v.expires_at > now() + interval '${maxEmbedTokenSeconds} seconds' and v.viewer_id <> $8
    )
  ), revoked as (
    insert into revoked_viewer as known (team_id, viewer_id, generation, expires_at)
    select team_id, $8, ${newGeneration}, clock_timestamp() + interval '${keptRevocationSeconds} seconds' from permitted
    on conflict (team_id, viewer_id) do update set generation = excluded.generation, expires_at = excluded.expires_at
  ), ${recordedFor('permitted')}
  select ${userGroupSelectList('locked')}, exists (select from permitted) from locked`,
};
