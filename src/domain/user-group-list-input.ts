import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { InvalidInput, type Issue } from './errors.ts';
import { isStorableTime } from './keyset.ts';
import { type Json, propertiesIssues, textIssues } from './limits.ts';
import { type PageInput, pageSizeIssues } from './page.ts';

/** From `from`, which is included, to `to`, which is not; null counts as omitted. */
export interface DateTimeRange {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

/** A property that groups must have. */
export interface PropertyFilter {
  /** Member names from the root of the properties, and indexes in lists: 1 to 32. */
  readonly path: readonly string[];
  /** What is there: the same value, not a part of it. */
  readonly equals?: Json | undefined;
}

/** Conditions that must all hold; null counts as omitted. */
export interface UserGroupFilter {
  /** A part of the name or the provided id, regardless of case: 1 to 255 characters. */
  readonly search?: string | null | undefined;
  /** At most 100. */
  readonly providedIds?: readonly string[] | null | undefined;
  /** `tag: null` means untagged. */
  readonly environmentTag?: { readonly tag?: EnvironmentTag | null | undefined } | null | undefined;
  /** At most 5. */
  readonly properties?: readonly PropertyFilter[] | null | undefined;
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
export function checkListInput({ filter, ...page }: UserGroupListInput): void {
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

/** The issues of a range of time. */
export function* rangeIssues(path: Issue['path'], range: DateTimeRange): Generator<Issue> {
  for (const name of ['from', 'to'] as const) {
    const time = range[name];
    if (time != null && !isStorableTime(time.getTime())) {
      yield { path: [...path, name], message: 'must be in the years 1 to 9999, in UTC.' };
    }
  }
}
