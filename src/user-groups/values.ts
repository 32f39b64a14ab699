import type { Issue } from '../errors.ts';
import { maxJsonBytes, maxPropertiesDepth, maxTextLength, nameFault, textFault, tooLarge } from '../input.ts';

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
  maxJsonBytes,
  maxPropertiesDepth,
} as const;

const { maxMappingEntries } = userGroupLimits;

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
