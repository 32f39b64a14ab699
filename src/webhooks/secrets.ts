import { randomBytes } from 'node:crypto';
import type { EncryptionContext, KeyRing } from '../encryption/keys.ts';
import type { Webhook } from '../generated/prisma/client.ts';

/** What a secret begins with, as Standard Webhooks has it. The base64 of the key follows. */
const secretPrefix = 'whsec_';

const secretBytes = 32;

/** Generates the secret of a webhook: `whsec_`, then 32 random bytes in base64. */
export const generateWebhookSecret = (): string => secretPrefix + randomBytes(secretBytes).toString('base64');

/** The columns of a webhook's secrets. */
export type SecretColumn = 'secret_encrypted' | 'previous_secret_encrypted';

const contextOf = (column: SecretColumn, id: number): EncryptionContext => ({
  column: `webhook.${column}`,
  row: Buffer.from(String(id)),
});

/** Encrypts the secret of the webhook with this number for a column. */
export function encryptWebhookSecret(keys: KeyRing, column: SecretColumn, id: number, secret: string): Buffer<ArrayBuffer> {
  return keys.encrypt(contextOf(column, id), secret);
}

/** Decrypts a secret. @throws DecryptionError when the encryption key is not configured, or the value was changed. */
export function decryptWebhookSecret(keys: KeyRing, column: SecretColumn, id: number, encrypted: Uint8Array): string {
  return keys.decrypt(contextOf(column, id), encrypted);
}

/** The columns that hold what a webhook's deliveries are signed with. */
export type StoredSecrets = Pick<Webhook, 'id' | 'secretEncrypted' | 'previousSecretEncrypted' | 'previousSecretEndsAt'>;

/**
 * The secrets that sign the deliveries of a webhook: its own, and before its end the one that it replaced.
 *
 * @param now the time, by the database's clock.
 * @throws DecryptionError when the encryption key is not configured, or a value was changed.
 */
export function signingSecrets(keys: KeyRing, webhook: StoredSecrets, now: Date): string[] {
  const { id, secretEncrypted, previousSecretEncrypted: previous, previousSecretEndsAt: endsAt } = webhook;
  const current = decryptWebhookSecret(keys, 'secret_encrypted', id, secretEncrypted);
  if (!previous || !endsAt || endsAt <= now) return [current];
  return [current, decryptWebhookSecret(keys, 'previous_secret_encrypted', id, previous)];
}
