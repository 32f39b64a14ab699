import type { Writable } from 'node:stream';
import {
  publicationLeadSeconds,
  type SigningKeyState,
  SigningKeys,
  signingKeyStates,
  verifiesUntil,
} from '../embed-tokens/signing-keys.ts';
import { bindSigningKeys } from '../embed-tokens/statements/signing-keys.ts';
import type { CommandContext } from './context.ts';
import { ownAuthor } from './context.ts';

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
export async function listSigningKeys({ database }: Pick<CommandContext, 'database'>): Promise<ListedSigningKey[]> {
  const list = await bindSigningKeys(database).listSigningKeys('all');
  if (!list) return [];
  const states = signingKeyStates(list);
  return list.keys.map((key, index) => ({
    id: key.id,
    state: states[index] as SigningKeyState,
    signsFrom: key.signsFrom,
    signsUntil: key.signsUntil,
    publishedUntil: key.signsUntil && verifiesUntil(key),
  }));
}

/** Lines of text about signing keys. */
export function describeSigningKeys(keys: readonly ListedSigningKey[]): string[] {
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
export async function rotateSigningKey(context: CommandContext, { stdout }: { readonly stdout: Writable }): Promise<number> {
  const isAdded = await new SigningKeys(bindSigningKeys(context.database), context.keys).rotate(ownAuthor());
  stdout.write(
    isAdded
      ? `Published a new signing key. It signs in ${publicationLeadSeconds / 60} minutes, when every verifier has it.\n`
      : 'Nothing was changed: a new signing key was published a few minutes ago and does not sign yet.\n',
  );
  stdout.write(`${describeSigningKeys(await listSigningKeys(context)).join('\n')}\n`);
  return 0;
}
