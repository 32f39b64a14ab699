import type { QueryValues } from '../app/router.tsx';
import { Failure } from '../graphql/failure.ts';
import { withoutToken } from './token-text.ts';

/** What decides how a list is shown, and not what is in it. */
const viewNames = ['sort', 'direction', 'size', 'after', 'before'];

/**
 * The failure that names what a URL has that is no filter, such as a second value or a day that does not exist: a list without it
 * would have more entries than meant.
 *
 * @param used the filters that the page has read.
 */
export function unusedFilter(query: URLSearchParams, used: QueryValues): Failure | undefined {
  const unused = [...query].filter(([name, value]) => {
    const values = [used[name] ?? ''].flat();
    return value !== '' && !viewNames.includes(name) && !values.includes(value);
  });
  if (unused.length === 0) return undefined;
  const list = unused.map(([name, value]) => `${name}=${withoutToken(value) || '…'}`).join(', ');
  return new Failure('INVALID_INPUT', `The URL contains filters that cannot be used: ${list}.`);
}
