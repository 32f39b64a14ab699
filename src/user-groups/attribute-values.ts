import type { Issue } from '../errors.ts';
import {
  type AttributeName,
  attributes,
  type GivenAttribute,
  type GivenName,
  type GivenValue,
  type ParameterOf,
  type StoredAttribute,
} from './attributes.ts';

/** Every attribute with its name, in the order of the select list. */
export const storedAttributes = Object.entries(attributes) as readonly [AttributeName, StoredAttribute][];

/** The attributes that callers give. */
export const givenAttributes = storedAttributes.filter(([, attribute]) => 'graphql' in attribute) as unknown as readonly [
  GivenName,
  GivenAttribute,
][];

/** The attributes by which lists can be filtered; all are texts. */
export const filteredAttributes = givenAttributes.filter(([, { isFiltered }]) => isFiltered);

const memberNames = new Map<unknown, string>([
  ['providedId', 'user_group_id'],
  ['currentToken', 'current_token'],
  ['graceSeconds', 'grace_seconds'],
  ...givenAttributes.map(([name, { member }]) => [name, member] as const),
]);

/**
 * The path of an issue with the names that REST requests and files have, and the schema id of an entry of the mapping.
 *
 * @param mapping the mapping as the member has it.
 */
export function memberPath([first = '', ...rest]: Issue['path'], mapping: unknown): Issue['path'] {
  if (first !== 'mapping' || rest[0] === undefined) return [memberNames.get(first) ?? first, ...rest];
  const schemaIds = typeof mapping === 'object' && mapping !== null ? Object.keys(mapping) : [];
  return ['mapping', schemaIds[Number(rest[0])] ?? rest[0]];
}

/** What callers give, as it is stored: of those that are given, and with the initial value of the others in a new group. */
export type StoredValues = { readonly [Name in GivenName]: ParameterOf<Name> };

/**
 * The attributes that a caller gives, checked. On creation null counts as omitted; on update it clears a nullable attribute, and
 * no other may be null.
 */
export type UserGroupFields = { readonly [Name in GivenName]?: GivenValue<Name> | null | undefined };

/** What a new group stores of what was given. */
export const initialValues = (given: UserGroupFields, group: { readonly providedId: string }): StoredValues =>
  storedValues(
    ({ toText, initial }, value) => (value == null ? (initial?.(group) ?? null) : toText(value)),
    given,
  ) as StoredValues;

/** What an update stores of what was given; undefined for what stays as it is. */
export const changedValues = (given: UserGroupFields): { readonly [Name in GivenName]?: ParameterOf<Name> | undefined } =>
  storedValues(({ toText, nullable }, value) => {
    if (value != null) return toText(value);
    return nullable ? (value as null | undefined) : undefined;
  }, given);

function storedValues(
  store: (attribute: GivenAttribute, value: never) => string | null | undefined,
  given: UserGroupFields,
): object {
  const stored: Record<string, string | null | undefined> = {};
  for (const [name, attribute] of givenAttributes) stored[name] = store(attribute, given[name] as never);
  return stored;
}

/** What the members of a request or a line give, as the GraphQL schema has it; not checked yet. */
export const givenOf = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    givenAttributes.map(([name, { member, fromMember }]) => [name, fromMember ? fromMember(members[member]) : members[member]]),
  );
