import { type Issue, maxIssues } from '../errors.ts';
import { characterFault, type Json, maxTextLength, textFault } from '../input.ts';

/** Maps a schema to its data source. */
export interface DataSourceMapping {
  readonly schemaId: string;
  readonly dataSource: string;
}

/** The greatest version of a user group, that of PostgreSQL's `integer`. After it comes 1 again. */
export const maxVersion = 2 ** 31 - 1;

/** The limits of a user group. */
export const userGroupLimits = {
  maxTextLength,
  maxMappingEntries: 1_000,
  /** The most bytes of a mapping, and of properties, as JSON. */
  maxJsonBytes: 64 * 1024,
  maxPropertiesDepth: 32,
} as const;

const { maxMappingEntries, maxJsonBytes, maxPropertiesDepth } = userGroupLimits;

const tooLarge = `must have at most ${maxJsonBytes / 1024} KiB as JSON.`;

type Path = Issue['path'];

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
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return [{ path, message: 'must be a JSON object.' }];
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
