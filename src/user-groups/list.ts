import type { Context } from '../app.ts';
import type { Caller } from '../caller.ts';
import { isStatementTimeout } from '../database/errors.ts';
import { type DateTimeRange, type KeysetSection, rangeIssues, sectionOf, timeIssues } from '../database/keyset.ts';
import { type CountedPage, cutPage, type PageInput, pageSizeIssues, withTotalCount } from '../database/page.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { filteredAttributes } from './attribute-values.ts';
import type { GivenName } from './attributes.ts';
import { countGroups, type GroupPosition, type GroupsRequest, readSection, userGroupKeysets } from './reads.ts';
import type { GroupConditions } from './statements/matches.ts';
import type { SortField } from './statements/pages.ts';
import { type Json, propertiesIssues, textIssues } from './values.ts';

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

/** What user groups can be sorted by. */
export type UserGroupOrderField = 'CREATED' | 'UPDATED' | 'NAME' | 'PROVIDED_ID';

/** The order of a list. Groups with the same value are in the order of their team ids. */
export interface UserGroupOrder {
  readonly field: UserGroupOrderField;
  readonly direction: 'ASC' | 'DESC';
}

/** Which user groups are asked for. */
export interface UserGroupListInput extends PageInput {
  readonly filter?: UserGroupFilter | null | undefined;
  /** By default the newest first. */
  readonly orderBy?: UserGroupOrder | null | undefined;
}

/** The most ids and properties of a filter, and the most steps of a property's path. */
const maxProvidedIds = 100;
const maxProperties = 5;
const maxPathLength = 32;

/** Checks a list's input except its cursors. @throws InvalidInput with every issue, up to ten. */
function checkListInput({ filter, ...page }: UserGroupListInput): void {
  const issues = [...pageSizeIssues(page), ...filterIssues(filter ?? {})];
  if (issues.length > 0) throw new InvalidInput(issues);
}

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
  for (const name of ['createdAt', 'updatedAt'] as const) yield* rangeIssues(['filter', name], filter[name] ?? {});
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

/** A page of user groups. All groups that the filter matches are counted; null when that takes too long. */
export type UserGroupPage = CountedPage<UserGroup>;

const everyEnvironment: readonly (EnvironmentTag | null)[] = ['Customer', 'Testing', null];

const sortFields: Readonly<Record<UserGroupOrderField, SortField>> = {
  CREATED: 'createdAt',
  UPDATED: 'updatedAt',
  NAME: 'name',
  PROVIDED_ID: 'providedId',
};

const newestFirst: UserGroupOrder = { field: 'CREATED', direction: 'DESC' };

/**
 * A page of the groups that the caller has access to. Each page is read from the database: a group that is created or deleted
 * between two pages neither repeats nor hides another, unless its place in the order changes.
 *
 * @param withJson whether properties and mapping are read; without it they are undefined.
 * @throws Forbidden, synchronously, without `groups:read`, or for a filter by another environment without `admin`.
 * @throws InvalidInput, synchronously, also for a cursor of another order, or of a group that the caller has no access to.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when a filtered page takes longer than two seconds, or too many pages wait.
 */
export function listUserGroups(
  context: Context,
  input: UserGroupListInput,
  { withJson = true }: { readonly withJson?: boolean } = {},
): Promise<UserGroupPage> {
  const { caller } = context;
  caller.require('groups:read');
  checkListInput(input);
  const filter = input.filter ?? {};
  const environments = environmentsOf(caller, filter);
  const request: GroupsRequest = { context, withJson, environments, conditions: conditionsOf(filter) };
  const { field, direction } = input.orderBy ?? newestFirst;
  const sortBy = sortFields[field];
  const section = sectionOf(input, {
    keyset: userGroupKeysets[sortBy],
    direction: direction === 'ASC' ? 'asc' : 'desc',
    isVisible: (position) => caller.canAccess(position),
    advice: ' Use one of a page with the same orderBy.',
  });
  return readPage(request, sortBy, section);
}

async function readPage(
  request: GroupsRequest,
  sortBy: SortField,
  section: KeysetSection<GroupPosition>,
): Promise<UserGroupPage> {
  const { size, direction, start, end } = section;
  const found = await readSection(request, { sortBy, direction, start, end, size });
  const { cursorOf } = userGroupKeysets[sortBy];
  return withTotalCount(cutPage({ found, cursorOf, nodeOf: ({ group }) => group }, section), () => countAll(request));
}

async function countAll(request: GroupsRequest): Promise<number | null> {
  try {
    return await countGroups(request);
  } catch (error) {
    if (isStatementTimeout((error as Error).cause)) return null;
    throw error;
  }
}

function environmentsOf(caller: Caller, { environmentTag }: UserGroupFilter): GroupsRequest['environments'] {
  if (environmentTag) return [caller.chooseEnvironment(environmentTag.tag)];
  return caller.allEnvironments ? everyEnvironment : [caller.environmentTag];
}

function conditionsOf(filter: UserGroupFilter): GroupConditions {
  const { search, providedIds, properties, status, notResolvedSince, createdAt, updatedAt } = filter;
  const range = (given: UserGroupFilter['createdAt']) =>
    given?.from || given?.to ? { from: given.from ?? undefined, to: given.to ?? undefined } : undefined;
  const texts = filteredAttributes.flatMap(([name, { sql }]) =>
    filter[name] == null ? [] : [{ sql, equals: String(filter[name]) }],
  );
  return {
    texts: texts.length > 0 ? texts : undefined,
    search: search ?? undefined,
    providedIds: providedIds ?? undefined,
    properties: properties?.map(({ path, equals }) => ({ path, equals: JSON.stringify(equals ?? null) })),
    suspended: status == null ? undefined : status === 'SUSPENDED',
    notResolvedSince: notResolvedSince ?? undefined,
    createdAt: range(createdAt),
    updatedAt: range(updatedAt),
  };
}
