import { existsSync } from 'node:fs';
import { hasCluster } from '../../database/bundled.ts';
import { KeyRing } from '../../encryption/keys.ts';
import { findKeyIdsInUse } from '../../key-rotation.ts';
import { shellWord } from '../../shell-word.ts';
import { keyFile, readKeyFile } from '../key-file.ts';
import { type CheckContext, counted, failure, type Outcome, ok, warning } from './check.ts';
import { describeMode } from './data-directory-check.ts';

/** Whether every encryption key that rows use is there, and only for the gateway. */
export async function checkKeys({ config, environment, reached }: CheckContext): Promise<Outcome> {
  const file = config.encryptionKeys ? environment['ENCRYPTION_KEYS_FILE'] : keyFile(config.dataDir);
  const used = reached && (await findKeyIdsInUse(reached.database));
  let keys = config.encryptionKeys;
  if (!keys && file && existsSync(file)) {
    try {
      keys = readKeyFile(file);
    } catch (error) {
      return failure((error as Error).message, 'Without the keys, the gateway does not start, and tokens cannot be read.');
    }
  }
  if (!keys && !used?.length) {
    if (!used && hasCluster(config.dataDir))
      return warning(
        `${file} is missing, and there is a database; which keys its rows use was not checked`,
        'Restore the file from a backup if this database has ever had tokens.',
      );
    return ok('there are none yet: the first start creates them');
  }
  const ids = keys ? new KeyRing(keys).ids : [];
  const missing = used?.filter((id) => !ids.includes(id)) ?? [];
  if (missing.length > 0) {
    const where = config.encryptionKeys ? 'ENCRYPTION_KEYS or the file that ENCRYPTION_KEYS_FILE names' : `the file ${file}`;
    return failure(
      `rows are encrypted with ${missing.length > 1 ? 'keys that are' : 'a key that is'} not configured: ${missing.join(', ')}`,
      `Add ${missing.length > 1 ? 'them' : 'it'} to ${where}, from a backup.`,
    );
  }
  const found = `${counted(ids.length, 'key')}; ${used ? `rows use ${used.length} of them` : 'which of them rows use was not checked'}`;
  const open = file && existsSync(file) && describeMode(file);
  return open ? warning(`${found}; ${open}`, `Run: chmod 600 ${shellWord(file)}`) : ok(found);
}
