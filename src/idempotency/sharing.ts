import type { Caller } from '../caller.ts';

/** The mutations that change their groups in one statement. */
const sharedMutations: readonly string[] = ['getOrCreateUserGroup', 'updateUserGroup', 'rotateUserGroupToken'];

/** What reads and locks a group by itself before it is changed. */
const conditions = ['mergeProperties', 'expectedVersion'];

/**
 * With which others a request with an Idempotency-Key may share a transaction: those for which this is the same. One of few
 * texts.
 *
 * One statement then changes the groups of all, and locks them in one order. A second statement could wait for a group that
 * another transaction holds, which waits for one of the first. So updates that look their group up before they write are apart
 * from those that do not, and by how they look it up.
 *
 * @param input that of the mutation, not checked yet; undefined if it is not known before the execution.
 * @returns nothing for a request that is executed in a transaction of its own.
 */
export function sharingOf(caller: Caller, mutation: string, input: unknown): string | undefined {
  if (!sharedMutations.includes(mutation) || !isObject(input)) return undefined;
  if (conditions.some((name) => name in input)) return undefined;
  if (mutation !== 'updateUserGroup') return mutation;
  const { by } = input as { by?: unknown };
  if (!isObject(by)) return undefined;
  if (caller.writesWithoutLookup(by)) return mutation;
  const selector = ['providedId', 'token'].find((name) => name in by);
  return selector && `${mutation} by ${selector}`;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
