import { GatewayError, InvalidInput } from '../errors.ts';
import { parseJson, parseQuery } from '../json.ts';
import { maxVersion } from './values.ts';

/** A strong entity tag of RFC 9110. */
const entityTag = /^"([\x21\x23-\x7e\x80-\xff]*)"$/;

/**
 * Reads the header If-Match: one strong entity tag, or `*`.
 *
 * @param value undefined without the header.
 * @returns the version that the group must have: undefined for any, 0 for a tag that no group has.
 * @throws GatewayError `INVALID_INPUT` for anything else.
 */
export function parseIfMatch(value: string | undefined): number | undefined {
  if (value === undefined || value === '*') return undefined;
  const [, tag] = entityTag.exec(value) ?? [];
  if (tag === undefined) {
    const message =
      'The header If-Match must be the value of the header ETag that you got with the user group, such as "3", or *.';
    throw new GatewayError('INVALID_INPUT', message);
  }
  return /^[1-9]\d{0,9}$/.test(tag) && Number(tag) <= maxVersion ? Number(tag) : 0;
}

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
