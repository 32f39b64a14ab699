/** The values of a form that a person has changed, and only those: others may have changed the rest. */
export function changesOf<Values extends object>(initial: Values, values: Values): Partial<Values> {
  const changes = Object.entries(values).filter(([name, value]) => !isSame(value, initial[name as keyof Values]));
  return Object.fromEntries(changes) as Partial<Values>;
}

/** Sets are compared by what they contain: one that is edited is another one each time. */
function isSame(left: unknown, right: unknown): boolean {
  if (!(left instanceof Set && right instanceof Set)) return left === right;
  return left.size === right.size && [...left].every((item) => right.has(item));
}
