import type { Database } from '../client.ts';
import { type ApiTokenWrites, bindApiTokenWrites } from './api-token-writes.ts';
import type { OnRecorded } from './event-writes.ts';
import { bindTokenRotation, type TokenRotation } from './token-rotation.ts';
import { bindUserGroupPatches, type UserGroupPatches } from './user-group-patches.ts';
import { bindUserGroupUpdates, type UserGroupUpdates } from './user-group-updates.ts';
import { bindUserGroupWrites, type UserGroupWrites } from './user-group-writes.ts';

/** The writes on the hot path; those that requests share are sent and committed in one statement. */
export interface Writes extends UserGroupWrites, UserGroupUpdates, UserGroupPatches, TokenRotation, ApiTokenWrites {}

/** Binds the writes to the database that holds the truth. @param onRecorded called for each event about a group. */
export function bindWrites(database: Pick<Database, 'query' | 'transaction'>, onRecorded: OnRecorded): Writes {
  return {
    ...bindUserGroupWrites(database, onRecorded),
    ...bindUserGroupUpdates(database, onRecorded),
    ...bindUserGroupPatches(database, onRecorded),
    ...bindTokenRotation(database, onRecorded),
    ...bindApiTokenWrites(database),
  };
}
