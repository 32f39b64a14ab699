import type { Issue } from './errors.ts';
import { textIssues } from './limits.ts';
import { maxEmbedTokenSeconds } from './signing-keys.ts';
import { assertNoIssues, type InputCheck, selectorIssues, type Unchecked, type UncheckedBy } from './user-group-input.ts';

/** The limits of embed tokens. docs/limits.md lists the same figures. */
export const embedTokenLimits = {
  minEmbedTokenSeconds: 60,
  maxEmbedTokenSeconds,
  /** Characters of an embed token: one with the largest properties, id, audience and issuer has some 93,000. */
  maxEmbedTokenCharacters: 98_304,
} as const;

/** How long an embed token is valid if the caller does not say, in seconds. */
export const defaultEmbedTokenSeconds = 900;

const { minEmbedTokenSeconds } = embedTokenLimits;

/** Checks the input of a new embed token: the scope `embed:sign`, the selector, and the other members. */
export const checkEmbedToken: InputCheck<Unchecked<'audience' | 'expiresInSeconds'> & { readonly by: UncheckedBy }> = (
  caller,
  input,
) => {
  caller.require('embed:sign');
  assertNoIssues(embedTokenIssues(input));
};

function* embedTokenIssues({
  by,
  audience,
  expiresInSeconds,
}: Unchecked<'audience' | 'expiresInSeconds'> & { readonly by: UncheckedBy }): Generator<Issue> {
  yield* selectorIssues(by);
  if (audience != null) yield* textIssues(['audience'], audience);
  if (expiresInSeconds != null && !isLifetime(expiresInSeconds)) {
    const message = `must be a whole number from ${minEmbedTokenSeconds} to ${maxEmbedTokenSeconds}.`;
    yield { path: ['expiresInSeconds'], message };
  }
}

function isLifetime(seconds: unknown): boolean {
  return Number.isInteger(seconds) && (seconds as number) >= minEmbedTokenSeconds && (seconds as number) <= maxEmbedTokenSeconds;
}
