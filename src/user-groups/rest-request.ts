import { GatewayError, InvalidInput, type Issue } from '../errors.ts';
import { unknownFields } from '../http/body.ts';
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

/** Fields of responses that no request has. */
const responseFields = ['team_id', 'token', 'provided_id', 'api_environment_tag'];

/** The issues of members that the operation does not have. */
export const unknownMembers = (names: Iterable<string>, known: readonly string[]): Issue[] =>
  unknownFields(names, known, [], responseFields);

/** A parameter for one entry of the mapping, and the schema id in it. */
const mappingEntry = /^mapping\[([^[\]]+)\]$/;

/**
 * The members in a query string: texts, `mapping` and `properties` as JSON. An entry of the mapping may be a parameter of its
 * own, `mapping[SCHEMA_ID]`.
 *
 * @param names the members that the operation has.
 * @throws InvalidInput for each parameter that the operation does not have, or that is given twice.
 * @throws GatewayError `MALFORMED_JSON`, also when what is percent-encoded is not UTF-8.
 */
export function queryMembers(query: string, names: readonly string[]): Members {
  const members: Record<string, unknown> = {};
  const mapping = new Map<string, string>();
  const issues: Issue[] = [];
  const unknown: string[] = [];
  for (const [name, value] of parseQuery(query)) {
    const [, schemaId] = names.includes('mapping') ? (mappingEntry.exec(name) ?? []) : [];
    const isTwice = schemaId === undefined ? name in members : mapping.has(schemaId) || 'mapping' in members;
    if (isTwice)
      issues.push({ path: schemaId === undefined ? [name] : ['mapping', schemaId], message: 'is given more than once.' });
    else if (schemaId !== undefined) mapping.set(schemaId, value);
    else if (!names.includes(name)) unknown.push(name);
    else members[name] = name === 'mapping' || name === 'properties' ? parseJson(value, `The parameter ${name}`) : value;
  }
  if (mapping.size > 0 && 'mapping' in members) issues.push({ path: ['mapping'], message: 'is given more than once.' });
  issues.push(...unknownMembers(unknown, names));
  if (issues.length > 0) throw new InvalidInput(issues);
  return mapping.size > 0 ? { ...members, mapping: Object.fromEntries(mapping) } : members;
}
