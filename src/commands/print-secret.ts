import type { Writable } from 'node:stream';

/**
 * Prints a text with a secret that is shown only once. If it cannot be written, the secret is lost, which is said.
 *
 * @param describeLoss what is lost, for a reason, and what to do.
 * @returns the exit status.
 */
export async function printSecret(
  { stdout, stderr }: { readonly stdout: Writable; readonly stderr: Writable },
  text: string,
  describeLoss: (reason: string) => string,
): Promise<number> {
  const failure = await new Promise<Error | null | undefined>((resolve) => stdout.write(`${text}\n`, resolve));
  if (!failure) return 0;
  stderr.write(`${describeLoss(failure.message)}\n`);
  return 1;
}
