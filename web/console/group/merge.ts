type Members = Readonly<Record<string, unknown>>;

/** A place where two values differ. A value is undefined where there is none. */
export interface Difference {
  /** The names of the members from the root to the values. */
  readonly path: readonly string[];
  readonly left: unknown;
  readonly right: unknown;
}

/** Whether two values of JSON are equal: the order of members does not count. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return left === right;
  return namesOf(left, right).every((name) => isEqual(memberOf(left, name), memberOf(right, name)));
}

/** Where two values differ, member by member. */
export function differencesOf(left: unknown, right: unknown, path: readonly string[] = []): readonly Difference[] {
  if (isEqual(left, right)) return [];
  if (!isObject(left) || !isObject(right)) return [{ path, left, right }];
  return namesOf(left, right).flatMap((name) => differencesOf(memberOf(left, name), memberOf(right, name), [...path, name]));
}

/**
 * Two changes of one value in one, member by member.
 *
 * @param base what both started from.
 * @param winner which of the two a member has that both changed.
 */
export function merge(base: unknown, mine: unknown, stored: unknown, winner: 'mine' | 'stored'): unknown {
  if (isEqual(stored, base)) return mine;
  if (isEqual(mine, base)) return stored;
  if (!isObject(mine) || !isObject(stored)) return winner === 'mine' ? mine : stored;
  const members = namesOf(stored, mine).map((name) => [
    name,
    merge(memberOf(base, name), memberOf(mine, name), memberOf(stored, name), winner),
  ]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** Where two changes of one value differ because both have changed the same. @param base what both started from. */
export function conflictsOf(base: unknown, mine: unknown, stored: unknown): readonly Difference[] {
  return differencesOf(merge(base, mine, stored, 'mine'), merge(base, mine, stored, 'stored'));
}

/** The JSON Merge Patch (RFC 7396) that makes one object the other; undefined if none does: it cannot add a member with null. */
export function patchOf(from: Members, to: Members): Members | undefined {
  const patch: [name: string, value: unknown][] = [];
  for (const name of namesOf(from, to)) {
    const [before, after] = [memberOf(from, name), memberOf(to, name)];
    if (isEqual(before, after)) continue;
    if (after === null) return undefined;
    const value = isObject(after) ? patchOf(isObject(before) ? before : {}, after) : (after ?? null);
    if (value === undefined) return undefined;
    patch.push([name, value]);
  }
  return Object.fromEntries(patch);
}

/** Whether the members that two values share are in the same order, also in the values among them. */
export function hasSameOrder(left: unknown, right: unknown): boolean {
  if (!(left instanceof Object && right instanceof Object)) return true;
  const [from, to] = [new Map(Object.entries(left)), new Map(Object.entries(right))];
  const order = [...to.keys()].filter((name) => from.has(name));
  const shared = [...from.keys()].filter((name) => to.has(name));
  return shared.every((name, index) => name === order[index] && hasSameOrder(from.get(name), to.get(name)));
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names of the members of two objects. */
const namesOf = (left: Members, right: Members) => [...new Set([...Object.keys(left), ...Object.keys(right)])];

/** A member; undefined if the value has none of that name, as for what every object inherits. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
