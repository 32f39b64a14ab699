import { GatewayError, InvalidInput } from '../errors.ts';
import { httpLimits } from '../http-limits.ts';
import { parseJson, parseQuery } from '../json.ts';
import { maxVersion } from './statements/columns.ts';

const { maxIfMatchCharacters } = httpLimits;

/** An entity tag of RFC 9110; of a weak one, with its `W/`. */
const entityTags = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The entity tag of a version. */
const versionTag = /^"([1-9]\d{0,9})"$/;

/**
 * Reads the header If-Match: the versions that it permits, none if no tag in it is that of a version. As RFC 9110 demands, a weak
 * tag matches nothing.
 *
 * @param value undefined without the header.
 * @returns undefined if every version is permitted: without the header, and for `*`.
 * @throws GatewayError `INVALID_INPUT` when it is neither `*` nor a list of entity tags, or too long.
 */
export function parseIfMatch(value: string | undefined): readonly number[] | undefined {
  if (value === undefined || value === '*') return undefined;
  const text = value.length <= maxIfMatchCharacters ? value : '';
  const tags = text.match(entityTags) ?? [];
  const between = text.split(entityTags);
  const isList = between.every(
    (part, index) => /^[ \t,]*$/.test(part) && (index === 0 || index === tags.length || part.includes(',')),
  );
  if (tags.length === 0 || !isList) throw malformed();
  return tags.map((tag) => Number(versionTag.exec(tag)?.[1])).filter((version) => version <= maxVersion);
}

const malformed = (): GatewayError =>
  new GatewayError(
    'INVALID_INPUT',
    'The header If-Match must be the value of the header ETag that you got with the user group, in double quotes, such as "3"; a list of ' +
      `them, separated by commas; or *. It has at most ${maxIfMatchCharacters} characters.`,
  );

/** The members of a request, or the attributes made of them, by name; one that is absent is left out. */
export type Members = Readonly<Record<string, unknown>>;

/** A parameter for one entry of the mapping, and the schema id in it. */
const mappingEntry = /^mapping\[([^[\]]+)\]$/;

/**
 * The members in a query string, known or not: texts, `mapping` and `properties` as JSON. An entry of the mapping may be a
 * parameter of its own, `mapping[SCHEMA_ID]`.
 *
 * @throws InvalidInput for each parameter that is given twice.
 * @throws GatewayError `MALFORMED_JSON`, also when what is percent-encoded is not UTF-8.
 */
export function queryMembers(query: string): Members {
  const members = new Map<string, unknown>();
  const mapping = new Map<string, string>();
  const twice = new Set<string>();
  for (const [name, value] of parseQuery(query)) {
    const [, schemaId] = mappingEntry.exec(name) ?? [];
    if (schemaId === undefined ? members.has(name) : mapping.has(schemaId)) twice.add(name);
    else if (schemaId !== undefined) mapping.set(schemaId, value);
    else members.set(name, name === 'mapping' || name === 'properties' ? parseJson(value, `The parameter ${name}`) : value);
  }
  if (mapping.size > 0) {
    if (members.has('mapping')) twice.add('mapping');
    members.set('mapping', Object.fromEntries(mapping));
  }
  if (twice.size > 0)
    throw new InvalidInput(Array.from(twice, (name) => ({ path: [name], message: 'is given more than once.' })));
  return Object.fromEntries(members);
}
