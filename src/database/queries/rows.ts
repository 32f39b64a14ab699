import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { decodeTime, type Row } from '../text-query.ts';

const groupColumns = [
  'team_id',
  'provided_id',
  'environment_tag',
  'name',
  'token',
  'properties',
  'mapping',
  'created_at',
  'updated_at',
];

/** The columns that {@link StoredUserGroup} reads, in its order, of a table or its alias. */
export const userGroupColumns = (table: string): string => groupColumns.map((column) => `${table}.${column}`).join(', ');

/** How many columns these are: what else a row has comes behind them. */
export const userGroupWidth = groupColumns.length;

/** A row as a user group. JSON and times are decoded when they are asked for: most answers have neither. */
export class StoredUserGroup implements UserGroup {
  readonly teamId: number;
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  readonly name: string;
  readonly token: string;
  private readonly row: Row;

  constructor(row: Row) {
    this.teamId = Number(row[0]);
    this.providedId = row[1] as string;
    this.environmentTag = row[2] as EnvironmentTag | null;
    this.name = row[3] as string;
    this.token = row[4] as string;
    this.row = row;
  }

  get properties(): UserGroup['properties'] {
    const text = this.row[5];
    return text == null ? null : JSON.parse(text);
  }

  get mapping(): UserGroup['mapping'] {
    return JSON.parse(this.row[6] as string);
  }

  get createdAt(): Date {
    return decodeTime(this.row[7] as string);
  }

  get updatedAt(): Date {
    return decodeTime(this.row[8] as string);
  }
}

const tokenColumns = [
  ...['id', 'name', 'environment_tag', "array_to_string(scopes, ' ')", 'created_at', 'expires_at', 'last_used_at'],
  ...['revoked_at is not null', 'coalesce(expires_at <= now(), false)'],
];

/** The columns that {@link StoredApiToken} reads, in its order. */
export const apiTokenColumns = tokenColumns.join(', ');

/** How many columns these are: what else a row has comes behind them. */
export const apiTokenWidth = tokenColumns.length;

/** An API token without its secret's hash; whether it has expired was judged by the database's clock. */
export class StoredApiToken {
  readonly id: number;
  readonly name: string;
  readonly environmentTag: EnvironmentTag | null;
  readonly scopes: string[];
  readonly revoked: boolean;
  readonly expired: boolean;
  private readonly row: Row;

  constructor(row: Row) {
    this.id = Number(row[0]);
    this.name = row[1] as string;
    this.environmentTag = row[2] as EnvironmentTag | null;
    this.scopes = row[3] ? row[3].split(' ') : [];
    this.revoked = row[7] === 't';
    this.expired = row[8] === 't';
    this.row = row.slice(0, apiTokenWidth);
  }

  get createdAt(): Date {
    return decodeTime(this.row[4] as string);
  }

  get expiresAt(): Date | null {
    return timeOrNull(this.row[5]);
  }

  get lastUsedAt(): Date | null {
    return timeOrNull(this.row[6]);
  }
}

/** A time, or null of a column that is empty or, behind an outer join, missing. */
export const timeOrNull = (text: string | null | undefined): Date | null => (text == null ? null : decodeTime(text));
