import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { recordEvent } from '../caller.ts';
import { publicationLeadSeconds, rotateSigningKey, signingKeyStates, verifiesUntil } from '../embed-tokens/signing-keys.ts';
import { findSigningKeys } from '../embed-tokens/sql.ts';
import { generateEncryptionKey, maxEncryptionKeys } from '../encryption/keys.ts';
import { countRowsByKey, type EncryptedTable, type ReencryptionResult, reencryptAll, withKeysLock } from '../key-rotation.ts';
import { escapeControls } from '../terminal-text.ts';
import {
  type CommandContext,
  ownAuthor,
  ownContext,
  percent,
  printResult,
  showProgress,
  thousands,
  withDatabase,
} from './context.ts';
import { addKeys, keyFile, keyRefreshMs } from './key-file.ts';

/** `keys list|rotate encryption|rotate signing`: shows and rotates the keys. Can be run while the server runs. */
export function define(keys: Command): void {
  keys
    .command('list')
    .description(
      'show the id of each encryption key and what uses it, and the signing keys of embed tokens; no command shows a key',
    )
    .option('--json', 'one JSON object instead of text')
    .action(list);
  const rotate = keys.command('rotate').description('put another key in the place of one');
  rotate
    .command('encryption')
    .description('encrypt all tokens, signing keys and secrets of webhooks with another key; may be interrupted and run again')
    .action(() => withDatabase('change', rotateEncryption));
  rotate
    .command('signing')
    .description('publish a new signing key, which signs a few minutes later')
    .action(() => withDatabase('change', rotateSigning));
}

function list({ json }: { json?: boolean }): Promise<void> {
  return withDatabase('read', async (context) => {
    const uses = await countRowsByKey(context.database);
    const rows = (id: string, table: EncryptedTable) => uses.find((use) => use.id === id && use.table === table)?.rows ?? 0;
    const encryptionKeys = context.keys.ids.map((id, index) => ({
      id,
      encrypts: index === 0,
      currentTokens: rows(id, 'user_group'),
      retiredTokens: rows(id, 'retired_token'),
      signingKeys: rows(id, 'signing_key'),
      webhookSecrets: rows(id, 'webhook'),
    }));
    const signingKeys = await listSigningKeys(context);
    const lines = encryptionKeys.map((key, index) => {
      const uses = `current tokens: ${key.currentTokens}  ·  retired tokens: ${key.retiredTokens}  ·  signing keys: ${key.signingKeys}  ·  webhook secrets: ${key.webhookSecrets}`;
      return `${index + 1}.  ${key.id}  ·  ${key.encrypts ? 'encrypts and decrypts' : 'decrypts'}  ·  ${uses}`;
    });
    const text = ['Encryption keys:', ...lines, 'Signing keys:', ...describeSigningKeys(signingKeys)].join('\n');
    printResult(json, { encryptionKeys, signingKeys }, text);
  });
}

async function rotateEncryption(context: CommandContext): Promise<void> {
  const { config, keys } = context;
  const file = config.encryptionKeys ? undefined : keyFile(config.dataDir);
  const isAdded = await withKeysLock(context.database, () => addKeyUnlessPending(context, file));
  const { changed, remaining, problems } = await encryptWithFirstKey(context, file);
  const print = (text: string) => process.stdout.write(`${escapeControls(text)}\n`);
  print(`Encrypted ${changed} tokens, signing keys and webhook secrets with the key ${keys.ids[0]}.`);
  if (remaining.length > 0) {
    const uses = remaining.map(({ id, table, rows }) => `${rows} rows of ${table} use the key ${id}`).join(', ');
    const busy =
      'They were locked, or a gateway still encrypts with that key. Run this command again; if it says the same, restart the gateways.';
    throw new Error(`Some values still use another key, which must be kept: ${uses}.\n${problems.join('\n') || busy}`);
  }
  if (file && !isAdded)
    print(
      `No key was added: this has finished a rotation that was begun before. To replace the key ${keys.ids[0]} too, run the command again.`,
    );
  const others = keys.ids.slice(1);
  const where = file ? `the file ${file}: all lines after the first` : 'ENCRYPTION_KEYS or the file of ENCRYPTION_KEYS_FILE';
  if (others.length > 0)
    print(
      'Nothing uses another key now but responses to requests with an Idempotency-Key, which are stored for 24 hours. After that time look ' +
        `again with keys list. Then, and once no backup that you may restore needs them, remove the old keys (${others.join(', ')}) from ${where}.`,
    );
}

/** Adds a key to the file, unless an earlier run was interrupted, or the operator has put a new key first. */
async function addKeyUnlessPending({ database, keys }: CommandContext, file: string | undefined): Promise<boolean> {
  keys.refresh(); // another process may just have added one
  if ((await countRowsByKey(database)).some(({ id }) => id !== keys.ids[0])) return false;
  if (!file)
    throw new Error(
      'Everything is encrypted with the first key already. To rotate it, add a new key after the others, restart every gateway, then ' +
        'put the new key first, restart every gateway again, and run this command. A new key:\n\n' +
        `  ${generateEncryptionKey()}\n`,
    );
  if (keys.ids.length >= maxEncryptionKeys)
    throw new Error(`The file ${file} has ${keys.ids.length} keys, the most there may be. Remove lines after the first.`);
  addKeys(file, [Buffer.from(generateEncryptionKey(), 'base64')]);
  keys.refresh();
  return true;
}

async function encryptWithFirstKey(
  { database, keys, stop }: CommandContext,
  file: string | undefined,
): Promise<ReencryptionResult> {
  const [to = '', from = null] = keys.ids;
  // Until every gateway that can read the file encrypts with its first key, which may just have been put there.
  if (file) await sleep(2 * keyRefreshMs, undefined, { signal: stop }).catch(() => stop.throwIfAborted());
  // Before, because it may be interrupted.
  await recordEvent(database.sql, ownAuthor(), 'encryption_key.rotated', { encryptionKey: { from, to } });
  return reencryptAll(database, keys, (done, total) => {
    stop.throwIfAborted();
    showProgress(`${thousands(done)} values${percent(done, total)}`);
  }).finally(() => showProgress(''));
}

type ListedSigningKey = Awaited<ReturnType<typeof listSigningKeys>>[number];

/** The signing keys in the order in which they sign; none before the first start. */
async function listSigningKeys({ database }: CommandContext) {
  const keys = await findSigningKeys(database.sql);
  const states = signingKeyStates(keys);
  return keys.map((key, index) => ({
    id: key.id,
    state: states[index],
    signsFrom: key.signsFrom,
    /** When the next key takes over; null if there is none. */
    signsUntil: key.signsUntil,
    publishedUntil: key.signsUntil && verifiesUntil(key),
  }));
}

function describeSigningKeys(keys: readonly ListedSigningKey[]): string[] {
  if (keys.length === 0) return ['none; the first start of a gateway creates one'];
  return keys.map(({ id, state = 'expired', signsFrom, signsUntil, publishedUntil }, index) => {
    const uses = {
      published: `published; signs from ${signsFrom.toISOString()} on`,
      signing: `signs${signsUntil ? ` until ${signsUntil.toISOString()}` : ''}`,
      verifying: `verifies until ${publishedUntil?.toISOString()}`,
      expired: 'expired; the next rotation deletes it',
    };
    return `${index + 1}.  ${id}  ·  ${uses[state]}`;
  });
}

async function rotateSigning(context: CommandContext): Promise<void> {
  const isAdded = await rotateSigningKey(ownContext(context));
  const result = isAdded
    ? `Published a new signing key. It signs in ${publicationLeadSeconds / 60} minutes, when every verifier has it.`
    : 'Nothing was changed: a new signing key was published a few minutes ago and does not sign yet.';
  process.stdout.write(`${[result, ...describeSigningKeys(await listSigningKeys(context))].join('\n')}\n`);
}
