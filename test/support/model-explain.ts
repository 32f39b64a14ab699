import { isDeepStrictEqual } from 'node:util';
import { type Group, next, type Operation, type Requester, type Result, type State } from './model.ts';

/** An operation with its result; without one, it is unknown whether it was executed. */
export interface Done {
  readonly requester: Requester;
  readonly operation: Operation;
  readonly result: Result | undefined;
}

/**
 * The states that concurrent operations can lead to, in any order that explains every result. Two orders may explain the same
 * results, such as those of two updates of all fields: later operations decide between them.
 *
 * @param listed the groups that a list shows after all of them; a state with others is none of them.
 */
export function explain(states: readonly State[], done: readonly Done[], listed: readonly Group[]): State[] {
  const known = [...listed, ...done.flatMap(({ result }) => (result?.group ? [result.group] : []))];
  // What a lost operation may have issued: something that shows, or that was replaced or deleted before it showed.
  const candidates = [...known, ...done.map((_, index) => unseen(index))];
  const found: State[] = [];
  const visit = (state: State, pending: readonly Done[]): void => {
    if (pending.length === 0) {
      if (shows(state, listed)) found.push(state);
      return;
    }
    for (const [index, { requester, operation, result }] of pending.entries()) {
      const others = pending.filter((_, other) => other !== index);
      const after = result ? [next(state, requester, operation, result)] : lost(state, requester, operation, candidates);
      for (const each of distinct(after)) visit(each, others);
    }
  };
  for (const state of states) visit(state, done);
  return distinct(found);
}

/** The states after an operation whose response was lost: it was not executed, or it was, with whatever it issued. */
function lost(state: State, requester: Requester, operation: Operation, candidates: readonly Group[]): (State | undefined)[] {
  const executed = candidates.map((group) => next(state, requester, operation, { group, isLost: true }));
  return [state, ...executed];
}

const unseen = (index: number): Group => ({
  teamId: -1 - index,
  token: `never seen ${index}`,
  providedId: '',
  environmentTag: null,
  name: '',
  properties: null,
  mapping: [],
});

/** Whether a list shows exactly the groups of a state. */
function shows({ groups }: State, listed: readonly Group[]): boolean {
  const sorted = (all: readonly Group[]) => [...all].sort((a, b) => a.teamId - b.teamId);
  return isDeepStrictEqual(sorted(groups), sorted(listed));
}

/** Removes duplicate states. States that differ only in the order of groups and tokens are equal. */
function distinct(states: readonly (State | undefined)[]): State[] {
  const unordered = ({ groups, retired, tokens }: State) => [new Set(groups), retired, new Set(tokens)];
  const found: State[] = [];
  for (const state of states) {
    if (state && !found.some((other) => isDeepStrictEqual(unordered(other), unordered(state)))) found.push(state);
  }
  return found;
}
