import type { Database } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { decryptToken } from '../encryption/stored-token.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { readAllGroups, type StoredGroup } from './statements/export.ts';

/** A user group with its token, as `groups import` takes it back. */
export interface ExportedGroup extends Pick<StoredGroup, 'providedId' | 'environmentTag' | 'name'> {
  readonly token: string;
  /** A JSON object in one line of text. */
  readonly mapping: string;
  readonly properties: string | null;
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
    const exported = groups.map(({ providedId, environmentTag, name, mapping, properties, ...stored }) => ({
      providedId,
      environmentTag,
      name,
      token: decryptToken(db.keys, 'user_group', stored),
      mapping: inOneLine(mapping),
      properties: properties === null ? null : inOneLine(properties),
    }));
    yield { groups: exported, fraction };
  }
}

/** JSON without line breaks. They stand between its tokens only, and only in what was not written by the gateway. */
const inOneLine = (json: string): string => (/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json);
