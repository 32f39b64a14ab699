/**
 * About how many characters a JSON value has as text: exact but for escapes. Recursive: the readers
 * of bodies and documents bound the depth.
 *
 * @param known remembers what was measured, for values that occur again.
 */
export function jsonLength(value: unknown, known?: Map<object, number>): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return String(value).length;
  if (typeof value !== 'object' || value === null) return value === false ? 5 : 4;
  const before = known?.get(value);
  if (before !== undefined) return before;
  let length = 2;
  if (Array.isArray(value)) for (const item of value) length += jsonLength(item, known) + 1;
  else for (const name in value) length += name.length + 4 + jsonLength((value as Record<string, unknown>)[name], known);
  known?.set(value, length);
  return length;
}
