import type { Issue } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { type Json, newTextIssues, propertiesIssues } from '../input.ts';
import { type DataSourceMapping, mappingEntries, mappingIssues, mappingText, userGroupLimits } from './values.ts';

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

const { maxTextLength, maxMappingEntries, maxJsonBytes, maxPropertiesDepth } = userGroupLimits;
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
