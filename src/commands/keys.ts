import { setTimeout as sleep } from 'node:timers/promises';
import { recordEvent } from '../audit-log/statements/author.ts';
import type { Database } from '../database/client.ts';
import {
  publicationLeadSeconds,
  rotateSigningKey,
  type SigningKeyState,
  signingKeyStates,
  verifiesUntil,
} from '../embed-tokens/signing-keys.ts';
import { findSigningKeys } from '../embed-tokens/sql.ts';
import { generateEncryptionKey, maxEncryptionKeys } from '../encryption/key-texts.ts';
import type { KeyRing } from '../encryption/keys.ts';
import {
  countRowsByKey,
  type EncryptedTable,
  type KeyUse,
  type ReencryptionResult,
  reencryptAll,
  waitForWriters,
  withKeysLock,
} from '../key-rotation.ts';
import { escapeControls } from '../terminal-text.ts';
import { type CommandContext, ownAuthor, ownContext, withDatabaseToRead, withExistingDatabase } from './context.ts';
import { addKey, keyFile, keyRefreshMs } from './key-file.ts';
import { type OutputStreams, readJsonFlag, runAction, UsageError } from './options.ts';
import { openProgress, printResult } from './output.ts';

const keysHelp = `Usage:
  user-group-gateway keys list [--json]
  user-group-gateway keys rotate encryption|signing

list shows the id of each encryption key and what it is used for, and the signing keys of embed tokens; no command shows a key.
rotate encryption encrypts all user group tokens, signing keys and secrets of webhooks with another key. It may be interrupted and run again.
rotate signing publishes a new signing key, which signs a few minutes later.
Both can be run while gateways run.
`;

/**
 * `keys list|rotate encryption|rotate signing`: shows and rotates the keys. Can be run while the server runs.
 *
 * @throws UsageError for invalid arguments, before anything is opened.
 */
export const keys = (args: string[], io: OutputStreams): Promise<number> =>
  runAction('keys', keysHelp, { list, rotate }, args, io);

async function rotate([which = '', ...others]: readonly string[], io: OutputStreams): Promise<number> {
  if (others.length > 0 || !['encryption', 'signing'].includes(which))
    throw new UsageError(`keys rotate takes one argument: encryption or signing.\n\n${keysHelp}`);
  return withExistingDatabase((context) => (which === 'signing' ? rotateSigning : rotateEncryption)(context, io));
}

async function list(args: readonly string[], io: OutputStreams): Promise<number> {
  const asJson = readJsonFlag(args, 'keys list', keysHelp);
  return withDatabaseToRead(async (context) => {
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
    }));
    const signingKeys = await listSigningKeys(context);
    const lines = encryptionKeys.map(({ id, encrypts, currentTokens, retiredTokens, ...used }, index) => {
      const use = encrypts ? 'encrypts and decrypts' : 'decrypts';
      const tokens = `current tokens: ${currentTokens}  ·  retired tokens: ${retiredTokens}`;
      return `${index + 1}.  ${id}  ·  ${use}  ·  ${tokens}  ·  signing keys: ${used.signingKeys}  ·  webhook secrets: ${used.webhookSecrets}`;
    });
    const text = ['Encryption keys:', ...lines, 'Signing keys:', ...describeSigningKeys(signingKeys)].join('\n');
    return printResult(io, asJson, { encryptionKeys, signingKeys }, text);
  });
}

async function rotateEncryption(context: CommandContext, io: OutputStreams): Promise<number> {
  const { config, database, keys: ring } = context;
  const { stdout } = io;
  const file = config.encryptionKeys ? undefined : keyFile(config.dataDir);
  const isAdded = await withKeysLock(database, () => addKeyUnlessPending(database, ring, file));
  const { changed, remaining, problems } = await encryptWithFirstKey(context, file, io);
  stdout.write(`Encrypted ${changed} tokens, signing keys and webhook secrets with the key ${ring.ids[0]}.\n`);
  if (remaining.length > 0) throw new Error(describeRemaining(remaining, problems));
  if (file && !isAdded)
    stdout.write(
      `No key was added: this has finished a rotation that was begun before. To replace the key ${ring.ids[0]} too, run the command again.\n`,
    );
  const others = ring.ids.slice(1);
  if (others.length > 0) {
    const where = file
      ? `the file ${escapeControls(file)}: all lines after the first`
      : 'ENCRYPTION_KEYS or the file of ENCRYPTION_KEYS_FILE';
    stdout.write(
      `Nothing uses another key now but responses to requests with an Idempotency-Key, which are stored for 24 hours. After that time look ` +
        `again with keys list. Then, and once no backup that you may restore needs them, remove the old keys (${others.join(', ')}) from ${where}.\n`,
    );
  }
  return 0;
}

/** @throws the reason of the request to stop, after it has said how far it came. */
async function encryptWithFirstKey(
  { database, keys: ring, stop: { signal } }: CommandContext,
  file: string | undefined,
  { stdout, stderr }: OutputStreams,
): Promise<ReencryptionResult> {
  const [to = '', from = null] = ring.ids;
  const progress = openProgress(stderr, 'values');
  let encrypted = 0;
  try {
    // Until every gateway that can read the file encrypts with its first key, which may just have been put there.
    if (file) await sleep(2 * keyRefreshMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    await waitForWriters(database, signal, (pids) =>
      stderr.write(`Waiting for transactions that may have used another key (processes of PostgreSQL: ${pids.join(', ')}).\n`),
    );
    // Before, because it may be interrupted.
    await recordEvent(database.sql, ownAuthor(), 'encryption_key.rotated', { encryptionKey: { from, to } });
    return await reencryptAll(database, ring, (done, total) => {
      encrypted = done;
      signal.throwIfAborted();
      progress.update({ count: done, fraction: done / total });
    }).finally(() => progress.clear());
  } catch (error) {
    if (error === signal.reason)
      stdout.write(`Encrypted ${encrypted} values with the key ${to} in this run. Run the command again for the rest.\n`);
    throw error;
  }
}

/**
 * Adds a key to the file, unless an earlier run was interrupted, or the operator has put a new key first.
 *
 * @returns whether it did.
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
      : 'They were locked, or a gateway still encrypts with that key. Run this command again; if it says the same, restart the gateways.';
  return `Some values still use another key, which must be kept: ${uses}.\n${why}`;
}

/** A signing key as `keys list` shows it. */
interface ListedSigningKey {
  readonly id: string;
  readonly state: SigningKeyState;
  readonly signsFrom: Date;
  /** When the next key takes over; null if there is none. */
  readonly signsUntil: Date | null;
  /** How long it stays published; null as long as no next key is known. */
  readonly publishedUntil: Date | null;
}

/** The signing keys in the order in which they sign; none before the first start. */
async function listSigningKeys({ database }: CommandContext): Promise<ListedSigningKey[]> {
  const keys = await findSigningKeys(database.sql);
  const states = signingKeyStates(keys);
  return keys.map((key, index) => ({
    id: key.id,
    state: states[index] as SigningKeyState,
    signsFrom: key.signsFrom,
    signsUntil: key.signsUntil,
    publishedUntil: key.signsUntil && verifiesUntil(key),
  }));
}

/** Lines of text about signing keys. */
function describeSigningKeys(keys: readonly ListedSigningKey[]): string[] {
  if (keys.length === 0) return ['none; the first start of a gateway creates one'];
  return keys.map(({ id, state, signsFrom, signsUntil, publishedUntil }, index) => {
    const uses: Record<SigningKeyState, string> = {
      published: `published; signs from ${signsFrom.toISOString()} on`,
      signing: `signs${signsUntil ? ` until ${signsUntil.toISOString()}` : ''}`,
      verifying: `verifies until ${publishedUntil?.toISOString()}`,
      expired: 'expired; the next rotation deletes it',
    };
    return `${index + 1}.  ${id}  ·  ${uses[state]}`;
  });
}

/** `keys rotate signing`: publishes a new signing key, unless one is published that does not sign yet. Shows what signs when. */
async function rotateSigning(context: CommandContext, { stdout }: OutputStreams): Promise<number> {
  const isAdded = await rotateSigningKey(ownContext(context));
  stdout.write(
    isAdded
      ? `Published a new signing key. It signs in ${publicationLeadSeconds / 60} minutes, when every verifier has it.\n`
      : 'Nothing was changed: a new signing key was published a few minutes ago and does not sign yet.\n',
  );
  stdout.write(`${describeSigningKeys(await listSigningKeys(context)).join('\n')}\n`);
  return 0;
}
