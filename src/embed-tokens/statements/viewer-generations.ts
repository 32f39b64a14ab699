import { createBatchLoader, type Load, maxLookupKeys } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { unnest } from '../../database/columns.ts';

/** A viewer of a group. */
export interface ViewerKey {
  readonly teamId: number;
  readonly viewerId: string;
}

/** The generation that embed tokens of a viewer must have; undefined if none was revoked within two days: any. */
export type FindViewerGeneration = Load<ViewerKey, number>;

/** Binds the look-up to the database that holds the truth: a copy may not have a revocation yet. */
export const bindViewerGenerations = ({ query }: Pick<Database, 'query'>): FindViewerGeneration =>
  createBatchLoader<ViewerKey, number>({
    keyOf: ({ teamId, viewerId }) => `${teamId} ${viewerId}`,
    maxKeys: maxLookupKeys,
    load: async (keys) => {
      const values = [keys.map(({ teamId }) => teamId), keys.map(({ viewerId }) => viewerId)];
      const rows = await query('viewer-generations', viewerGenerations, values);
      return new Map(rows.map(([teamId, viewerId, generation]) => [`${teamId} ${viewerId}`, Number(generation)]));
    },
  });

const viewerKey = [
  { sql: 'team_id', type: 'int' },
  { sql: 'viewer_id', type: 'text' },
] as const;

const viewerGenerations = `
  select key.team_id, key.viewer_id, v.generation from ${unnest(viewerKey, 'key')}
  cross join lateral (
    select generation from revoked_viewer v where v.team_id = key.team_id and v.viewer_id = key.viewer_id limit 1
  ) as v`;
