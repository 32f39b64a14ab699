import type { Issue } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import {
  type Json,
  maxJsonBytes,
  maxPropertiesDepth,
  maxTextLength,
  nameFault,
  newTextIssues,
  propertiesIssues,
  textFault,
  tooLarge,
} from '../input.ts';

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
function* mappingIssues(path: Path, mapping: unknown): Generator<Issue> {
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
const mappingText = (mapping: readonly DataSourceMapping[]): string =>
  JSON.stringify(Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])));

/** How an attribute is stored. */
export interface StoredAttribute {
  /** Its column in the table `user_group`. */
  readonly sql: string;
  /** The type of the column in PostgreSQL. */
  readonly type: 'bool' | 'bytea' | 'environment_tag' | 'int' | 'json' | 'text' | 'timestamptz';
  readonly nullable?: true;
  /** Whether a new group gives it; otherwise it has the default of the database, or is a time. */
  readonly insert?: true;
  /** Whether an update may change it. */
  readonly update?: true;
}

/** An attribute that callers give, at creation and in updates. */
export interface GivenAttribute extends StoredAttribute {
  /** Its type in the GraphQL schema, and what it is called there: the field, and the fields of the inputs. */
  readonly graphql: {
    readonly type: 'DataSourceMapping' | 'JSON' | 'String';
    readonly field: string;
    readonly create: string;
    readonly update: string;
  };
  /** The name of the member of REST requests and of the field of files; both have the same form. */
  readonly member: string;
  /** The value of a member as the GraphQL schema has it, if that differs. It is not checked yet. */
  readonly fromMember?: (value: unknown) => unknown;
  /** The issues of a value of any type but null, which omits the attribute or, if it is nullable, clears it. */
  readonly check: (path: Issue['path'], value: unknown) => Iterable<Issue>;
  /** A checked value as the text that is stored. */
  readonly toText: (value: never) => string;
  /** What a new group has that does not give it. By default null. */
  readonly initial?: (group: { readonly providedId: string }) => string;
  /** What the console calls it. */
  readonly label: string;
  /** Whether lists can be filtered by its value. */
  readonly isFiltered?: true;
}

const mappingLimit = `at most ${maxMappingEntries.toLocaleString('en-US')} entries and ${maxJsonBytes / 1_024} KiB as JSON`;

/** The limits of properties, in a description. */
export const propertiesLimit = `at most ${maxJsonBytes / 1_024} KiB and ${maxPropertiesDepth} levels`;

/**
 * An optional text of 1 to 255 characters without control characters.
 *
 * @param description what it is, as a sentence without its period.
 * @public
 * @example
 * region: textAttribute({ sql: 'region', label: 'Region', description: 'Where the data is kept', isFiltered: true }),
 */
export const textAttribute = ({
  sql,
  label,
  description,
  ...others
}: Pick<GivenAttribute, 'sql' | 'label' | 'isFiltered'> & { readonly description: string }) =>
  ({
    sql,
    label,
    type: 'text',
    nullable: true,
    insert: true,
    update: true,
    graphql: {
      type: 'String',
      field: `${description}; null if it is not given.`,
      create: `${description}: 1 to ${maxTextLength} characters without control characters.`,
      update: `${description}: 1 to ${maxTextLength} characters without control characters; null clears it.`,
    },
    member: sql,
    check: newTextIssues,
    toText: (text: string) => text,
    ...others,
  }) as const satisfies GivenAttribute;

/**
 * The attributes of user groups: the only list of them besides `schema.prisma`, and the trigger `record_event`, which events
 * follow from. From this list follow the statements, the fields of the GraphQL schema and its inputs, the members of REST
 * requests, the fields of files, and the forms, filters and columns of the console. One that is missing does not compile.
 */
export const attributes = {
  teamId: { sql: 'team_id', type: 'int' },
  providedId: { sql: 'provided_id', type: 'text', insert: true },
  environmentTag: { sql: 'environment_tag', type: 'environment_tag', nullable: true, insert: true },
  name: {
    sql: 'name',
    type: 'text',
    insert: true,
    update: true,
    graphql: {
      type: 'String',
      field: 'The display name.',
      create: `The display name: 1 to ${maxTextLength} characters without control characters. Defaults to the id.`,
      update: `The display name: 1 to ${maxTextLength} characters without control characters.`,
    },
    member: 'name',
    check: newTextIssues,
    toText: (name: string) => name,
    initial: ({ providedId }) => providedId,
    label: 'Display name',
  },
  tokenHash: { sql: 'token_hash', type: 'bytea', insert: true },
  tokenEncrypted: { sql: 'token_encrypted', type: 'bytea', insert: true },
  mapping: {
    sql: 'mapping',
    type: 'json',
    insert: true,
    update: true,
    graphql: {
      type: 'DataSourceMapping',
      field: 'The data source of each schema.',
      create: `The data sources of schemas: ${mappingLimit}.`,
      update: `Replaces the whole mapping: ${mappingLimit}.`,
    },
    member: 'mapping',
    fromMember: mappingEntries,
    check: mappingIssues,
    toText: mappingText,
    initial: () => '{}',
    label: 'Mapping',
  },
  properties: {
    sql: 'properties',
    type: 'json',
    nullable: true,
    insert: true,
    update: true,
    graphql: {
      type: 'JSON',
      field: 'A JSON object, available as variables in dashboards and the SQL editor.',
      create: `A JSON object of ${propertiesLimit}.`,
      update: `Replaces all properties: a JSON object of ${propertiesLimit}; null clears them.`,
    },
    member: 'properties',
    check: propertiesIssues,
    toText: (properties: Json) => JSON.stringify(properties),
    label: 'Properties',
  },
  suspended: { sql: 'suspended', type: 'bool', insert: true },
  suspendedReason: { sql: 'suspended_reason', type: 'text', nullable: true, insert: true },
  lastResolvedAt: { sql: 'last_resolved_at', type: 'timestamptz', nullable: true },
  embedGeneration: { sql: 'embed_generation', type: 'int' },
  createdAt: { sql: 'created_at', type: 'timestamptz' },
  updatedAt: { sql: 'updated_at', type: 'timestamptz' },
  version: { sql: 'version', type: 'int' },
} as const satisfies Readonly<Record<keyof UserGroup, StoredAttribute | GivenAttribute>>;

type Attributes = typeof attributes;

/** The name of an attribute. */
export type AttributeName = keyof Attributes;

/** The names of the attributes that callers give. */
export type GivenName = {
  [Name in AttributeName]: Attributes[Name] extends { readonly graphql: object } ? Name : never;
}[AttributeName];

/** What callers give for an attribute, checked: as the GraphQL schema has it. */
export type GivenValue<Name extends GivenName> = {
  readonly String: string;
  readonly JSON: Json;
  readonly DataSourceMapping: readonly DataSourceMapping[];
}[Attributes[Name]['graphql']['type']];

/** The names of attributes with a property, such as `insert`. */
export type NamesWith<Property extends keyof StoredAttribute> = {
  [Name in AttributeName]: Attributes[Name] extends Readonly<Record<Property, unknown>> ? Name : never;
}[AttributeName];

/** What a statement takes for an attribute: JSON as text. */
export type ParameterOf<Name extends AttributeName> =
  | (Attributes[Name] extends { readonly type: 'json' } ? string : Exclude<UserGroup[Name], null>)
  | (Attributes[Name] extends { readonly nullable: true } ? null : never);

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
