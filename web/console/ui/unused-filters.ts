import { Failure } from '../graphql/failure.ts';
import { withoutToken } from './token-text.ts';

/** The failure that names what a URL has that is no filter: a list without it would have more entries than meant. */
export function unusedFailure(unused: readonly (readonly [name: string, value: string])[]): Failure | undefined {
  if (unused.length === 0) return undefined;
  const list = unused.map(([name, value]) => `${name}=${withoutToken(value) || '…'}`).join(', ');
  return new Failure('INVALID_INPUT', `The URL contains filters that cannot be used: ${list}.`);
}
