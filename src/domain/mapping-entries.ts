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
