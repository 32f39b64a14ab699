import { isDeepStrictEqual } from 'node:util';
import { type Group, next, type Operation, type Requester, type Result, type State } from './model.ts';

/** An operation with its result. */
export interface Done {
  readonly requester: Requester;
  readonly operation: Operation;
  readonly result: Result;
}

/**
 * The states that concurrent operations can lead to, in any order that explains every result. Two orders may explain the same
 * results, such as those of two updates of all fields: later operations decide between them.
 *
 * @param listed the groups that a list shows after all of them; a state with others is none of them.
 */
export function explain(states: readonly State[], done: readonly Done[], listed: readonly Group[]): State[] {
  const found: State[] = [];
  const visit = (state: State, pending: readonly Done[]): void => {
    if (pending.length === 0 && shows(state, listed) && !found.some((other) => isSame(other, state))) found.push(state);
    for (const one of pending) {
      const after = next(state, one.requester, one.operation, one.result);
      if (after)
        visit(
          after,
          pending.filter((other) => other !== one),
        );
    }
  };
  for (const state of states) visit(state, done);
  return found;
}

/** Whether a list shows exactly the groups of a state. */
function shows({ groups }: State, listed: readonly Group[]): boolean {
  const sorted = (all: readonly Group[]) => [...all].sort((a, b) => a.teamId - b.teamId);
  return isDeepStrictEqual(sorted(groups), sorted(listed));
}

/** Whether states differ at most in the order of groups and tokens. */
function isSame(one: State, other: State): boolean {
  const unordered = ({ groups, retired, tokens }: State) => [new Set(groups), retired, new Set(tokens)];
  return isDeepStrictEqual(unordered(one), unordered(other));
}
