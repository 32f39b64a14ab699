import type { Json } from './limits.ts';

/**
 * Applies a JSON Merge Patch (RFC 7396): members of the patch replace those of the target, objects in both are merged, `null`
 * removes a member, and anything that is not an object replaces the target. Neither value is changed. Members keep their places,
 * and new ones follow.
 *
 * Recursive: the depth of the patch must be bounded.
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name);
    else members.set(name, applyMergePatch(members.get(name), value));
  }
  return Object.fromEntries(members); // which makes an own member of any name, `__proto__` too
}

const isObject = (value: Json | undefined): value is { [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
