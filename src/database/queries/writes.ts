import type { Database } from '../client.ts';
import { type ApiTokenWrites, bindApiTokenWrites } from './api-token-writes.ts';
import { bindTokenRotation, type TokenRotation } from './token-rotation.ts';
import { bindUserGroupWrites, type UserGroupWrites } from './user-group-writes.ts';

/** The writes on the hot path; those that requests share are sent and committed in one statement. */
export interface Writes extends UserGroupWrites, TokenRotation, ApiTokenWrites {}

/** Binds the writes to the database that holds the truth. */
export function bindWrites(database: Pick<Database, 'query'>): Writes {
  return { ...bindUserGroupWrites(database), ...bindTokenRotation(database), ...bindApiTokenWrites(database) };
}
