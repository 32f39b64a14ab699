import type { Database } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { decryptToken } from '../encryption/stored-token.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { givenAttributes, type StoredValues } from './attribute-values.ts';
import type { GivenName } from './attributes.ts';
import { readAllGroups, type StoredGroup } from './statements/export.ts';

/** How files name the status of a group. */
export type FileStatus = 'active' | 'suspended';

/** A user group with its token, as `groups import` takes it back. JSON is in one line of text. */
export interface ExportedGroup extends Pick<StoredGroup, 'providedId' | 'environmentTag' | 'suspendedReason' | GivenName> {
  readonly status: FileStatus;
  readonly token: string;
}

/**
 * Reads all groups, or those of one environment, as they are at one moment.
 *
 * @param environment `null` means untagged; undefined means every environment.
 * @returns pages in the order of creation; `fraction` is the part of the table that was read, from 0 to 1.
 * @throws DecryptionError when a key is missing or a row was changed.
 */
export async function* exportUserGroups(
  db: Pick<Database, 'pool'> & { readonly keys: KeyRing },
  environment: EnvironmentTag | null | undefined,
): AsyncGenerator<{ readonly groups: readonly ExportedGroup[]; readonly fraction: number }> {
  for await (const { groups, fraction } of readAllGroups(db, environment)) {
    const exported = groups.map((group) => {
      const { providedId, environmentTag, suspendedReason } = group;
      const status: FileStatus = group.suspended ? 'suspended' : 'active';
      const ids = { providedId, environmentTag };
      return { ...givenOf(group), ...ids, status, suspendedReason, token: decryptToken(db.keys, 'user_group', group) };
    });
    yield { groups: exported, fraction };
  }
}

const givenOf = (group: StoredGroup): StoredValues => {
  const lines = givenAttributes.map(([name, { type }]) => [name, type === 'json' ? inOneLine(group[name]) : group[name]]);
  return Object.fromEntries(lines) as StoredValues;
};

/** JSON without line breaks. They stand between its tokens only, and only in what was not written by the gateway. */
const inOneLine = (json: string | null): string | null =>
  json !== null && /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json;
