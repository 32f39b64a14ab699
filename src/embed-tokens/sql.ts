import { type Sql, unnest } from '../database/client.ts';

/** A key pair that signs embed tokens. */
export interface SigningKey {
  /** Its JWK thumbprint (RFC 7638), the `kid` of its tokens. */
  readonly id: string;
  /** The public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly privateKeyEncrypted: Uint8Array;
  /** From when on it signs. */
  readonly signsFrom: Date;
  /** When the next key takes over; null if there is none. */
  readonly signsUntil: Date | null;
  /** The database's clock when it was read. */
  readonly now: Date;
}

/** Every signing key, in the order in which they sign. */
export const findSigningKeys = (sql: Sql): Promise<SigningKey[]> =>
  sql(
    'signing-keys',
    `select id, public_key as "publicKey", private_key_encrypted as "privateKeyEncrypted", signs_from as "signsFrom",
      lead(signs_from) over (order by number) as "signsUntil", now()
    from signing_key order by number`,
    [],
  );

/** A viewer of a group. */
export interface ViewerKey {
  readonly teamId: number;
  readonly viewerId: string;
}

/** The generation that embed tokens of each viewer must have; undefined if none was revoked within two days: any. */
export async function findViewerGenerations(sql: Sql, viewers: readonly ViewerKey[]): Promise<(number | undefined)[]> {
  const values = [viewers.map(({ teamId }) => teamId), viewers.map(({ viewerId }) => viewerId)];
  const rows = await sql<ViewerKey & { generation: number }>('viewer-generations', viewerGenerations, values);
  const keyOf = ({ teamId, viewerId }: ViewerKey) => `${teamId} ${viewerId}`;
  const found = new Map(rows.map((row) => [keyOf(row), row.generation]));
  return viewers.map((viewer) => found.get(keyOf(viewer)));
}

const viewerKey = [
  { sql: 'team_id', type: 'int' },
  { sql: 'viewer_id', type: 'text' },
] as const;

const viewerGenerations = `
  select key.team_id as "teamId", key.viewer_id as "viewerId", v.generation from ${unnest(viewerKey, 'key')}
  cross join lateral (
    select generation from revoked_viewer v where v.team_id = key.team_id and v.viewer_id = key.viewer_id limit 1
  ) as v`;
