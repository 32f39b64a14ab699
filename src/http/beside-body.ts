import { InvalidInput } from '../domain/errors.ts';

/**
 * Checks that no parameter of a query string is lost beside a body, which alone is read.
 *
 * @param parameters those that would have a meaning.
 * @throws InvalidInput for each that is not the same text in the body.
 */
export function assertSameInBody(parameters: Iterable<readonly [name: string, value: string]>, body: object): void {
  const members = new Map<string, unknown>(Object.entries(body));
  const message = 'is in the query string, but not the same in the body; send it in the body only.';
  const lost = [...parameters].filter(([name, value]) => members.get(name) !== value);
  if (lost.length > 0) throw new InvalidInput(lost.map(([name]) => ({ path: [name], message })));
}
