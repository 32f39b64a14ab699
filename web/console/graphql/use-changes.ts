import { useRef } from 'react';
import { toFailure } from './failure.ts';

/**
 * Sends the values of a form that a person has changed, and only those: others may have changed the rest. What was sent without a
 * response that says whether it is stored is sent again, even if it is as it was at first.
 *
 * @param initial what the form began with; must stay the same.
 * @returns calls `send` with these values, and returns what it does.
 */
export function useChanges<Values extends object>(initial: Values) {
  const uncertain = useRef<ReadonlySet<string>>(new Set());
  return async <Result>(values: Values, send: (changes: Partial<Values>) => Promise<Result>): Promise<Result> => {
    const changes = Object.entries(values).filter(
      ([name, value]) => !isSame(value, initial[name as keyof Values]) || uncertain.current.has(name),
    );
    try {
      return await send(Object.fromEntries(changes) as Partial<Values>);
    } catch (error) {
      if (toFailure(error).isOutcomeUnknown) uncertain.current = new Set(changes.map(([name]) => name));
      throw error;
    }
  };
}

/** Sets are compared by what they contain: one that is edited is another one each time. */
function isSame(left: unknown, right: unknown): boolean {
  if (!(left instanceof Set && right instanceof Set)) return left === right;
  return left.size === right.size && [...left].every((item) => right.has(item));
}
