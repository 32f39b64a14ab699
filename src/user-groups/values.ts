import { type Issue, maxIssues } from '../errors.ts';
import { controls } from '../terminal-text.ts';

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Maps a schema to its data source. */
export interface DataSourceMapping {
  readonly schemaId: string;
  readonly dataSource: string;
}

/** The greatest version of a user group, that of PostgreSQL's `integer`. After it comes 1 again. */
export const maxVersion = 2 ** 31 - 1;

/** The limits of a user group. */
export const userGroupLimits = {
  /** The most characters (code points) that an id, a name, and either side of a mapping entry may have. */
  maxTextLength: 255,
  maxMappingEntries: 1_000,
  /** The most bytes of a mapping, and of properties, as JSON. */
  maxJsonBytes: 64 * 1024,
  maxPropertiesDepth: 32,
} as const;

const { maxTextLength, maxMappingEntries, maxJsonBytes, maxPropertiesDepth } = userGroupLimits;

const tooLarge = `must have at most ${maxJsonBytes / 1024} KiB as JSON.`;

type Path = Issue['path'];

/** The issues of a required text of any type: its type, its length in characters, and characters that PostgreSQL cannot store. */
export function textIssues(path: Path, text: unknown): Issue[] {
  const fault = text == null ? 'is required.' : textFault(text, 1);
  return fault ? [{ path, message: fault }] : [];
}

/** The issues of a valid text that is to be stored as a name or an id. Stored texts and selectors may have other characters. */
export function printableIssues(path: Path, text: string): Issue[] {
  const index = text.search(controls);
  if (index < 0) return [];
  const code = `U+${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`;
  const position = [...text.slice(0, index)].length + 1;
  return [{ path, message: `must not contain control characters or invisible marks; character ${position} is ${code}.` }];
}

/** The issues of a text of any type that no stored group has from a time before its rule: control characters too. */
export function newTextIssues(path: Path, text: unknown): Issue[] {
  const issues = textIssues(path, text);
  return issues.length > 0 ? issues : printableIssues(path, text as string);
}

/** The issues of fields of a change that must not be null, by name. */
export const nullIssues = (fields: Readonly<Record<string, unknown>>): Issue[] =>
  Object.entries(fields)
    .filter(([, value]) => value === null)
    .map(([name]) => ({ path: [name], message: 'must not be null; omit it to keep the current value.' }));

/**
 * The issues of a mapping of any type: the number of entries, the text of each side, duplicate schema ids, the size.
 * Lazy, so that checking stops as soon as enough issues are taken.
 *
 * @param mapping when valid, a list of {@link DataSourceMapping}.
 */
export function* mappingIssues(path: Path, mapping: unknown): Generator<Issue> {
  if (!Array.isArray(mapping)) return yield { path, message: 'must map schema ids to data sources, both strings.' };
  if (mapping.length > maxMappingEntries) return yield { path, message: `must have at most ${maxMappingEntries} entries.` };
  const seen = new Set<unknown>();
  let isValid = true;
  for (const [index, entry] of mapping.entries()) {
    const { schemaId, dataSource } = (entry ?? {}) as Partial<Record<keyof DataSourceMapping, unknown>>;
    const twice = seen.has(schemaId) ? 'is a duplicate.' : undefined;
    const schemaFault = textFault(schemaId, 0) ?? nameFault(schemaId) ?? twice;
    const sourceFault = textFault(dataSource, 0);
    if (schemaFault) yield { path: [...path, index, 'schemaId'], message: schemaFault };
    if (sourceFault) yield { path: [...path, index, 'dataSource'], message: sourceFault };
    isValid &&= !schemaFault && !sourceFault;
    seen.add(schemaId);
  }
  // Printed only when the number and the lengths of its texts are known to be bounded.
  if (isValid && Buffer.byteLength(mappingText(mapping)) > maxJsonBytes) yield { path, message: tooLarge };
}

/**
 * The issues of properties of any type: not an object, too large, too deep, or values that do not survive a round trip through
 * JSON. At most ten issues. The depth of what was parsed is bounded.
 */
export function propertiesIssues(path: Path, properties: unknown): Issue[] {
  if (!isObject(properties as Json)) return [{ path, message: 'must be a JSON object.' }];
  if (Buffer.byteLength(JSON.stringify(properties)) > maxJsonBytes) return [{ path, message: tooLarge }];
  const issues: Issue[] = [];
  inspect(properties as Json, path, 1, issues);
  return issues;
}

function inspect(value: Json, path: Path, depth: number, issues: Issue[]): void {
  if (issues.length >= maxIssues) return;
  const fault = valueFault(value, depth);
  if (fault) return void issues.push({ path, message: fault });
  if (typeof value !== 'object' || value === null) return;
  for (const [member, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const name = typeof member === 'string' ? (characterFault(member) ?? nameFault(member)) : undefined;
    if (!name) inspect(item, [...path, member], depth + 1, issues);
    else if (issues.length < maxIssues) issues.push({ path: [...path, member], message: name });
  }
}

function valueFault(value: Json, depth: number): string | undefined {
  if (typeof value === 'string') return characterFault(value);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return 'is a number that cannot be represented exactly; send it as a string.';
  }
  const tooDeep = depth > maxPropertiesDepth && typeof value === 'object' && value !== null;
  return tooDeep ? `is nested more than ${maxPropertiesDepth} levels deep.` : undefined;
}

function textFault(text: unknown, minLength: number): string | undefined {
  if (typeof text !== 'string') return 'must be a string.';
  if (isLongerThan(maxTextLength, text) || text.length < minLength) {
    return `must have ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxTextLength} characters.`;
  }
  return characterFault(text);
}

/** Whether a text has more characters than `max`. A character has one or two UTF-16 units, so few texts need counting. */
function isLongerThan(max: number, text: string): boolean {
  return text.length > 2 * max || (text.length > max && [...text].length > max);
}

function characterFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL (U+0000).';
  return text.isWellFormed() ? undefined : 'must not contain a lone surrogate (half of a character).';
}

/** The one name that JavaScript libraries between us and the database take for more than data. */
function nameFault(name: unknown): string | undefined {
  return name === '__proto__' ? 'is a reserved name.' : undefined;
}

/**
 * A mapping as the schema takes it, a list of entries, from the object that the legacy API and files have. Each side is left as
 * it is, and so is what is not an object, for the validation to check.
 */
export function mappingEntries(mapping: unknown): unknown {
  // A list is how the schema takes a mapping, and must not pass for one here: no text does.
  if (Array.isArray(mapping)) return 'a list';
  if (typeof mapping !== 'object' || mapping === null) return mapping;
  const sources = mapping as Readonly<Record<string, unknown>>;
  // Not by Object.entries, which takes as long as reading the JSON when there are many.
  return Object.keys(sources).map((schemaId) => ({ schemaId, dataSource: sources[schemaId] }));
}

/** A mapping as it is stored: a JSON object. */
export const mappingText = (mapping: readonly DataSourceMapping[]): string =>
  JSON.stringify(Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])));

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
