import { GatewayError, InvalidInput, type Issue, shorten } from '../errors.ts';
import { assertSameInBody } from '../http/body.ts';
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

/** What callers do instead of sending a field that the operation has in GraphQL only, by its name there. */
export type GraphqlOnly = Readonly<Record<string, string>>;

/** What was sent under another name than that of a member. @param remedy what to do instead, without a period. */
const mistaken = (name: string, member: string, remedy: string): Issue => ({
  path: [member],
  message: `was sent as ${shorten(name)}; ${remedy}.`,
});

/** A parameter that stands for a member of a request, or whose name resembles that of one. */
interface Parameter {
  readonly name: string;
  readonly value: string;
  /** The name of the member. */
  readonly member: string;
}

/** How a member is sent as a parameter, unless it is a text. */
const forms: Readonly<Record<string, string>> = {
  mapping: 'mapping[SCHEMA_ID]=DATA_SOURCE for each entry, or all of them as JSON: mapping={"SCHEMA_ID":"DATA_SOURCE"}',
  properties: 'them as JSON: properties={"NAME":"VALUE"}',
};

/** A parameter for one entry of the mapping, and the schema id in it. */
const mappingEntry = /^mapping\[([^[\]]+)\]$/;

/** A parameter, and what comes after an `&` in its value that is not percent-encoded: a text without `=`, or `amp;`. */
const cutValue = /(?<=^|&)([^&=]+=[^&]*)&+(?=([^&=]+)(?:&|$)|amp;)/g;

/** A schema id in brackets that the client has not percent-encoded, with a `+` that it has not encoded either. */
const plusInSchemaId = /(?<=^|&)mapping\[[^=&\]+]*\+[^=&\]]*\]/;

/**
 * The members in a query string: texts, and `mapping` and `properties` as JSON. An entry of the mapping may be a parameter of its
 * own, `mapping[SCHEMA_ID]`.
 *
 * @param names the members that the operation has.
 * @throws InvalidInput for each member that is given more than once or in another form, or whose value ends at an `&`, for a `+`
 *   in a schema id that is not encoded, and for each that only GraphQL has.
 * @throws GatewayError `MALFORMED_JSON`, also when what is percent-encoded is not UTF-8.
 */
export function queryMembers(query: string, names: readonly string[], graphqlOnly: GraphqlOnly): Members {
  const members: Record<string, unknown> = {};
  const mapping = new Map<string, string>();
  const issues: Issue[] = [];
  for (const [, cut = '', rest = 'amp;'] of query.matchAll(cutValue)) {
    const [parameter] = parametersOf(cut, names);
    if (!parameter) continue;
    const message = `is followed by "&${shorten(rest)}", which is no parameter; send an "&" in a value as %26.`;
    issues.push({ path: [parameter.member], message });
  }
  if (plusInSchemaId.test(query)) {
    issues.push({ path: ['mapping'], message: 'has a "+" in a schema id; send a "+" as %2B, and a space as %20.' });
  }
  for (const { name, value, member } of parametersOf(query, [...names, ...Object.keys(graphqlOnly)])) {
    const [, schemaId] = mappingEntry.exec(name) ?? [];
    const elsewhere = graphqlOnly[member];
    if (elsewhere !== undefined || (schemaId === undefined && name !== member)) {
      const hint = /^[;?]/.test(name)
        ? '. Parameters are separated by "&"; in a value, a ";" is sent as %3B and a "?" as %3F'
        : '';
      issues.push(mistaken(name, member, (elsewhere ?? `send ${forms[member] ?? `${member}=TEXT`}`) + hint));
    } else if (schemaId === undefined ? name in members : mapping.has(schemaId)) {
      issues.push({ path: schemaId === undefined ? [member] : [member, schemaId], message: 'is given more than once.' });
    } else if (schemaId !== undefined) mapping.set(schemaId, value);
    else members[name] = name in forms ? parseJson(value, `The parameter ${name}`) : value;
  }
  if (mapping.size > 0 && 'mapping' in members) {
    issues.push({ path: ['mapping'], message: 'is given as JSON and as mapping[…]; send one of the two.' });
  }
  if (issues.length > 0) throw new InvalidInput(issues);
  return mapping.size > 0 ? { ...members, mapping: Object.fromEntries(mapping) } : members;
}

/**
 * Checks that nothing in a query string is lost beside a body: the members are taken from the body alone.
 *
 * @param names the members that the operation has.
 * @throws InvalidInput for each parameter that stands for a member or resembles one, and is not the same text as in the body, and
 *   for each that only GraphQL has.
 * @throws GatewayError `MALFORMED_JSON` when what is percent-encoded is not UTF-8.
 */
export function assertNothingLost(query: string, members: Members, names: readonly string[], graphqlOnly: GraphqlOnly): void {
  const parameters = parametersOf(query, [...names, ...Object.keys(graphqlOnly)]);
  const issues = parameters.flatMap(({ name, member }) => {
    const elsewhere = graphqlOnly[member];
    return elsewhere === undefined ? [] : [mistaken(name, member, elsewhere)];
  });
  if (issues.length > 0) throw new InvalidInput(issues);
  assertSameInBody(
    parameters.map(({ name, value }) => [name, value] as const),
    members,
  );
}

/**
 * Checks that no member was meant as one that the operation has, or as one that only GraphQL has: by the first word of its name,
 * see {@link memberFinder}. Others are ignored, such as `Company Name`.
 *
 * @param names the members that the operation has.
 * @throws InvalidInput for each whose name is not that of the member, and whose value is not the member's.
 */
export function assertNoneMistaken(members: Members, names: readonly string[], graphqlOnly: GraphqlOnly): void {
  const others = Object.keys(members).filter((name) => !names.includes(name));
  if (others.length === 0) return;
  const memberIn = memberFinder([...names, ...Object.keys(graphqlOnly)]);
  const issues = others.flatMap((name): Issue[] => {
    const member = memberIn(wordsOf(name).slice(0, 1));
    if (member === undefined || (member !== name && members[member] === members[name])) return [];
    return [mistaken(name, member, graphqlOnly[member] ?? `send ${member}`)];
  });
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** The words of a name. */
const wordsOf = (name: string): readonly string[] => name.replaceAll(escapedCharacter, ' ').match(/[\w-]+/g) ?? [];

/**
 * Creates the function that finds the member that the words of a name stand for: one of them is that of the member, apart from
 * case, `_`, `-` and a plural, or begins with `mapping` or `properties` (`mapping_sales`). So it is found also where a client
 * wrapped the fields (`data[name]`), flattened them (`properties.plan`) or escaped the URL twice (`mapping%255Ba%255D`) or as
 * HTML (`&amp;mapping[a]`).
 */
function memberFinder(names: readonly string[]): (words: readonly string[]) => string | undefined {
  const known = new Map(names.map((name) => [fold(name), name]));
  const memberOf = (word: string): string | undefined =>
    known.get(fold(word)) ?? known.get(fold(/^(?:mapping|propert(?:y|ies))/i.exec(word)?.[0] ?? ''));
  return (words) => words.map(memberOf).find((member) => member !== undefined);
}

/**
 * The parameters that stand for a member or resemble one. What follows a `;` or a second `?`, here a part of the value and to
 * others a separator, is returned with that in its name. Others are ignored.
 */
function parametersOf(query: string, names: readonly string[]): Parameter[] {
  const memberIn = memberFinder(names);
  const separated = query.split('&').flatMap((parameter) => parameter.slice(parameter.indexOf('=')).match(afterSeparator) ?? []);
  return [...parseQuery(query), ...parseQuery(`&${separated.join('&')}`)].flatMap(([name, value]) => {
    const member = memberIn(wordsOf(name));
    return member === undefined ? [] : [{ name, value, member }];
  });
}

/** A parameter after a `;` or a second `?` that is not percent-encoded, as clients encode the characters in a value. */
const afterSeparator = /[;?][^;?=]+=[^;?]*/g;

/** A percent-encoded ASCII character. */
const escapedCharacter = /%[0-7][\da-f]/gi;

const fold = (word: string): string => word.replace(/[_-]/g, '').replace(/ies$/i, 'y').replace(/s$/i, '').toLowerCase();
