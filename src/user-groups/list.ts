import { type Context, countInTime, readRows } from '../app.ts';
import {
  type CountedPage,
  defaultPageSize,
  type ListOrder,
  type PageInput,
  pageOf,
  pageStatement,
  rangeConditions,
  sectionOf,
} from '../database/list.ts';
import type { Issue } from '../errors.ts';
import { type EnvironmentTag, Prisma, type UserGroup } from '../generated/prisma/client.ts';
import { type DateTimeRange, type Json, propertiesIssues, rangeIssues, textIssues, timeIssues } from '../input.ts';
import { filteredAttributes } from './attribute-values.ts';
import { attributes, type GivenName } from './attributes.ts';
import { groupColumns } from './sql.ts';

/** A property that groups must have. */
export interface PropertyFilter {
  /** Member names from the root of the properties, and indexes in lists: 1 to 32. */
  readonly path: readonly string[];
  /** What is there: the same value, not a part of it. */
  readonly equals?: Json | undefined;
}

/** Conditions that must all hold; null counts as omitted. The value of a filtered attribute is compared as a whole. */
export interface UserGroupFilter extends Partial<Readonly<Record<GivenName, unknown>>> {
  /** A part of the name or the provided id, regardless of case: 1 to 255 characters. */
  readonly search?: string | null | undefined;
  /** At most 100. */
  readonly providedIds?: readonly string[] | null | undefined;
  /** `tag: null` means untagged. */
  readonly environmentTag?: { readonly tag?: EnvironmentTag | null | undefined } | null | undefined;
  /** At most 5. */
  readonly properties?: readonly PropertyFilter[] | null | undefined;
  readonly status?: 'ACTIVE' | 'SUSPENDED' | null | undefined;
  /** Groups whose `lastResolvedAt` is earlier than this time, or null. */
  readonly notResolvedSince?: Date | null | undefined;
  readonly createdAt?: DateTimeRange | null | undefined;
  readonly updatedAt?: DateTimeRange | null | undefined;
}

const orderFields = { CREATED: 'createdAt', UPDATED: 'updatedAt', NAME: 'name', PROVIDED_ID: 'providedId' } as const;

/** The order of a list. Groups with the same value are in the order of their team ids. */
export interface UserGroupOrder {
  readonly field: keyof typeof orderFields;
  readonly direction: 'ASC' | 'DESC';
}

/** Which user groups are asked for. */
export interface UserGroupListInput extends PageInput {
  readonly filter?: UserGroupFilter | null | undefined;
  /** By default the newest first. */
  readonly orderBy?: UserGroupOrder | null | undefined;
}

const everyEnvironment: readonly (EnvironmentTag | null)[] = ['Customer', 'Testing', null];

/**
 * A page of the groups that the caller has access to. Each page is read from the database: a group that is created or deleted
 * between two pages neither repeats nor hides another, unless its place in the order changes.
 *
 * @param withJson whether properties and mapping are read; without it they are undefined.
 * @throws Forbidden without `groups:read`, or for a filter by another environment without `admin`.
 * @throws InvalidInput, also for a cursor of another order.
 * @throws GatewayError `UNAVAILABLE` when a filtered page takes longer than two seconds, or too many pages wait.
 */
export async function listUserGroups(
  context: Context,
  input: UserGroupListInput,
  withJson = true,
): Promise<CountedPage<UserGroup>> {
  const { caller } = context;
  caller.require('groups:read');
  const filter = input.filter ?? {};
  const section = sectionOf(input, listOrder(input.orderBy ?? { field: 'CREATED', direction: 'DESC' }), filterIssues(filter));
  const conditions = conditionsOf(filter);
  const isOfAll = caller.allEnvironments && !filter.environmentTag;
  const environments = isOfAll ? everyEnvironment : [caller.chooseEnvironment(filter.environmentTag?.tag)];
  // Each environment has its part of the indexes.
  const statement = pageStatement(section, {
    columns: groupColumns('g', withJson),
    table: 'user_group g',
    parts: environments.map((tag) => [isOf(tag), ...conditions]),
    prefix: 'environment_tag',
  });
  const isFiltered = conditions.length > 0;
  // What most lists begin with is prepared.
  const isOrdinary = !input.orderBy && !section.isBackward && !section.end;
  const isCommon = !isFiltered && isOrdinary && section.limit === defaultPageSize + 1;
  const kind = [withJson, environments.map((tag) => (tag ? 't' : 'u')).join(''), Boolean(section.start)].join('-');
  const options = { isSlow: isFiltered, name: isCommon ? `user-groups-${kind}` : '' };
  const page = pageOf(section, await readRows<UserGroup>(context, statement, options));
  const where = Prisma.join([Prisma.sql`true`, ...(isOfAll ? [] : environments.map(isOf)), ...conditions], ' and ');
  const count = Prisma.sql`select count(*)::int as count from user_group where ${where}`;
  return { ...page, totalCount: () => countInTime(context, count) };
}

const listOrder = ({ field, direction }: UserGroupOrder): ListOrder => {
  const by = [orderFields[field], 'teamId'] as const;
  return {
    name: `UserGroup.${by[0]}`,
    direction: direction === 'ASC' ? 'asc' : 'desc',
    by: by.map((name) => ({ field: name, ...attributes[name] })),
  };
};

const isOf = (tag: EnvironmentTag | null): Prisma.Sql =>
  tag === null ? Prisma.sql`environment_tag is null` : Prisma.sql`environment_tag = ${tag}::environment_tag`;

/** The most ids and properties of a filter, and the most steps of a property's path. */
const maxProvidedIds = 100;
const maxProperties = 5;
const maxPathLength = 32;

function* filterIssues(filter: UserGroupFilter): Generator<Issue> {
  const { search, providedIds, environmentTag, properties } = filter;
  if (search != null) yield* textIssues(['filter', 'search'], search);
  if (providedIds != null) yield* providedIdIssues(providedIds);
  if (environmentTag != null && environmentTag.tag === undefined) {
    yield { path: ['filter', 'environmentTag', 'tag'], message: 'is required; null means untagged.' };
  }
  if (properties != null) yield* propertyFilterIssues(properties);
  for (const [name] of filteredAttributes) if (filter[name] != null) yield* textIssues(['filter', name], filter[name]);
  yield* timeIssues(['filter', 'notResolvedSince'], filter.notResolvedSince);
  for (const name of ['createdAt', 'updatedAt'] as const) yield* rangeIssues(['filter', name], filter[name]);
}

function* providedIdIssues(providedIds: readonly string[]): Generator<Issue> {
  const path = ['filter', 'providedIds'];
  if (providedIds.length > maxProvidedIds) return yield { path, message: `must have at most ${maxProvidedIds} ids.` };
  for (const [index, id] of providedIds.entries()) yield* textIssues([...path, index], id);
}

function* propertyFilterIssues(properties: readonly PropertyFilter[]): Generator<Issue> {
  const root = ['filter', 'properties'];
  if (properties.length > maxProperties) return yield { path: root, message: `must have at most ${maxProperties} conditions.` };
  for (const [index, { path, equals }] of properties.entries()) {
    if (path.length < 1 || path.length > maxPathLength) {
      yield { path: [...root, index, 'path'], message: `must have 1 to ${maxPathLength} steps.` };
    }
    // Together they are bounded as the properties are that they are compared with.
    yield* propertiesIssues([...root, index], { path: [...path], equals: equals ?? null });
  }
}

/** The conditions of a filter on columns; the environment is not among them. */
function conditionsOf(filter: UserGroupFilter): Prisma.Sql[] {
  const { search, providedIds, properties, status, notResolvedSince, createdAt, updatedAt } = filter;
  const conditions: Prisma.Sql[] = [];
  if (search != null) {
    // The expressions of the index. The columns' own collation knows upper and lower case of ASCII letters only.
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    conditions.push(
      Prisma.sql`(name collate "default" ilike ${pattern}::text or provided_id collate "default" ilike ${pattern}::text)`,
    );
  }
  if (providedIds) conditions.push(Prisma.sql`provided_id = any (${providedIds}::text[])`);
  for (const { path, equals } of properties ?? []) {
    // The expression of indexes that operators create. Of json, PostgreSQL finds wrong elements by negative indexes.
    const property = path.some((step) => step.startsWith('-'))
      ? Prisma.sql`properties::jsonb #> ${path}::text[]`
      : Prisma.sql`(properties #> ${path}::text[])::jsonb`;
    conditions.push(Prisma.sql`${property} = ${JSON.stringify(equals ?? null)}::jsonb`);
  }
  for (const [name, { sql }] of filteredAttributes) {
    if (filter[name] != null) conditions.push(Prisma.sql`${Prisma.raw(sql)} = ${filter[name]}::text`);
  }
  if (status) conditions.push(status === 'SUSPENDED' ? Prisma.sql`suspended` : Prisma.sql`not suspended`);
  if (notResolvedSince) {
    conditions.push(Prisma.sql`(last_resolved_at is null or last_resolved_at < ${notResolvedSince}::timestamptz)`);
  }
  return [...conditions, ...rangeConditions('created_at', createdAt), ...rangeConditions('updated_at', updatedAt)];
}
