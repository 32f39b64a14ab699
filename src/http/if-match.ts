import { GatewayError } from '../domain/errors.ts';
import { maxVersion } from '../domain/user-group-input.ts';
import { httpLimits } from './limits.ts';

const { maxIfMatchCharacters } = httpLimits;

/** An entity tag of RFC 9110; of a weak one, with its `W/`. */
const entityTags = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The entity tag of a version. */
const versionTag = /^"([1-9]\d{0,9})"$/;

/** The entity tag of a user group with this version, for the header ETag. */
export const entityTagOf = (version: number): string => `"${version}"`;

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
