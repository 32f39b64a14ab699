import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordEncryptionKeyRotation } from '../audit-log/record.ts';
import type { Database } from '../database/client.ts';
import { generateEncryptionKey, maxEncryptionKeys } from '../encryption/key-texts.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { reencryptAll } from '../key-rotation/key-rotation.ts';
import { countRowsByKey, type EncryptedTable, type KeyUse, withKeysLock } from '../key-rotation/statements.ts';
import { type CommandContext, ownAuthor, withExistingDatabase } from './context.ts';
import { addKey, keyFile, keyRefreshMs } from './key-file.ts';
import { asksForHelp, readOptions, UsageError } from './options.ts';
import { describeSigningKeys, listSigningKeys, rotateSigningKey } from './signing-keys.ts';

/** The streams of `keys`: for the result, and for progress. */
export interface KeysIo {
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

const keysHelp = `Usage:
  user-group-gateway keys list [--json]
  user-group-gateway keys rotate encryption|signing

list shows the id of each encryption key and what it is used for, and the signing keys of embed tokens; no command shows a key.
rotate encryption encrypts all user group tokens, signing keys, secrets of webhooks and stored responses with another key. It may be interrupted and run again.
rotate signing publishes a new signing key, which signs a few minutes later.
Both can be run while gateways run.
`;

/**
 * `keys list|rotate encryption|rotate signing`: shows and rotates the keys. Can be run while the server runs.
 *
 * @throws UsageError for invalid arguments, before anything is opened.
 */
export async function keys([action, ...args]: string[], io: KeysIo = process): Promise<number> {
  if (asksForHelp([action, ...args])) {
    io.stdout.write(keysHelp);
    return 0;
  }
  switch (action) {
    case 'list':
      return list(args, io);
    case 'rotate':
      if (args.length !== 1 || !['encryption', 'signing'].includes(args[0] as string))
        throw new UsageError(`keys rotate takes one argument: encryption or signing.\n\n${keysHelp}`);
      return withExistingDatabase((context) => (args[0] === 'signing' ? rotateSigningKey : rotateEncryption)(context, io));
    default:
      throw new UsageError(`${action ? `Unknown command "keys ${action}".` : 'No subcommand was given.'}\n\n${keysHelp}`);
  }
}

async function list(args: readonly string[], { stdout }: KeysIo): Promise<number> {
  const { given, words, problems } = readOptions(args, { json: 'flag' });
  if (words.length + problems.length > 0)
    throw new UsageError([...problems, 'keys list accepts only --json.', '', keysHelp].join('\n'));
  return withExistingDatabase(async (context) => {
    const { database, keys: ring } = context;
    const uses = await countRowsByKey(database);
    const rows = (id: string, table: EncryptedTable) => uses.find((use) => use.id === id && use.table === table)?.rows ?? 0;
    const encryptionKeys = ring.ids.map((id, index) => ({
      id,
      encrypts: index === 0,
      currentTokens: rows(id, 'user_group'),
      retiredTokens: rows(id, 'retired_token'),
      signingKeys: rows(id, 'signing_key'),
      webhookSecrets: rows(id, 'webhook'),
      storedResponses: rows(id, 'idempotency_record'),
    }));
    const signingKeys = await listSigningKeys(context);
    const lines = encryptionKeys.map(({ id, encrypts, currentTokens, retiredTokens, ...used }, index) => {
      const use = encrypts ? 'encrypts and decrypts' : 'decrypts';
      const tokens = `current tokens: ${currentTokens}  ·  retired tokens: ${retiredTokens}`;
      return `${index + 1}.  ${id}  ·  ${use}  ·  ${tokens}  ·  signing keys: ${used.signingKeys}  ·  webhook secrets: ${used.webhookSecrets}  ·  stored responses: ${used.storedResponses}`;
    });
    const text = ['Encryption keys:', ...lines, 'Signing keys:', ...describeSigningKeys(signingKeys)].join('\n');
    stdout.write(`${given.has('json') ? JSON.stringify({ encryptionKeys, signingKeys }) : text}\n`);
    return 0;
  });
}

async function rotateEncryption(context: CommandContext, { stdout, stderr }: KeysIo): Promise<number> {
  const { config, database, keys: ring } = context;
  const file = config.encryptionKeys ? undefined : keyFile(config.dataDir);
  const isAdded = await withKeysLock(database, () => addKeyUnlessPending(database, ring, file));
  if (isAdded) await sleep(2 * keyRefreshMs); // until every gateway encrypts with it

  const [to = '', from = null] = ring.ids;
  await recordEncryptionKeyRotation(database, ownAuthor(), { from, to }); // before, because it may be interrupted

  const progress = stderr.isTTY ? stderr : undefined;
  const { changed, remaining, problems } = await reencryptAll(database, ring, (done, total) => {
    progress?.write(`\r${done} of ${total} values (${Math.floor((100 * done) / total)} %)`);
  });
  progress?.write('\r\x1b[K');
  stdout.write(`Encrypted ${changed} tokens, signing keys, webhook secrets and stored responses with the key ${ring.ids[0]}.\n`);
  if (remaining.length > 0) throw new Error(describeRemaining(remaining, problems));
  const others = ring.ids.slice(1);
  if (others.length > 0) {
    const where = file ? `the file ${file}: all lines after the first` : 'ENCRYPTION_KEYS or the file of ENCRYPTION_KEYS_FILE';
    stdout.write(
      `Nothing uses another key. Once no backup that you may restore needs them, remove the old keys (${others.join(', ')}) from ${where}.\n`,
    );
  }
  return 0;
}

/**
 * Adds a key to the file, unless an earlier run was interrupted, or the operator has put a new key first. Returns whether it did.
 */
async function addKeyUnlessPending(database: Database, ring: KeyRing, file: string | undefined): Promise<boolean> {
  ring.refresh(); // another process may just have added one
  if ((await countRowsByKey(database)).some(({ id }) => id !== ring.ids[0])) return false;
  if (!file) throw new Error(noNewKey());
  if (ring.ids.length >= maxEncryptionKeys) {
    throw new Error(`The file ${file} has ${ring.ids.length} keys, the most there may be. Remove lines after the first.`);
  }
  addKey(file);
  ring.refresh();
  return true;
}

/** What to do first when the keys are settings. The key is a new one. */
const noNewKey = (): string =>
  'Everything is encrypted with the first key already. To rotate it, add a new key after the others, restart every gateway, then ' +
  'put the new key first, restart every gateway again, and run this command. A new key:\n\n' +
  `  ${generateEncryptionKey()}\n`;

function describeRemaining(remaining: readonly KeyUse[], problems: readonly string[]): string {
  const uses = remaining.map(({ id, table, rows }) => `${rows} rows of ${table} use the key ${id}`).join(', ');
  const why =
    problems.length > 0
      ? problems.join('\n')
      : 'A gateway still encrypts with that key: restart it, then run this command again.';
  return `Some values still use another key, which must be kept: ${uses}.\n${why}`;
}
