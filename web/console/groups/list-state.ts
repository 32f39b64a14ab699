import { RawJson } from '../../raw-json.ts';
import type { QueryValues } from '../app/router.tsx';
import type { Failure } from '../graphql/failure.ts';
import {
  type DateTimeRange,
  type OrderDirection,
  type PropertyFilter,
  textAttributes,
  type UserGroupFilter,
  type UserGroupOrderField,
  type UserGroupStatus,
} from '../graphql/generated.ts';
import { type EnvironmentChoice, environmentLabel, isEnvironmentChoice, tagOf } from '../ui/badge.tsx';
import { dayStart } from '../ui/days.ts';
import { withoutToken } from '../ui/token-text.ts';
import { unusedFilter } from '../ui/unused-filters.ts';

/** What the list of groups shows, as the URL has it. */
export interface ListState {
  readonly search: string;
  readonly environment: EnvironmentChoice | '';
  /** The day since which no token of the group was looked up, as above. */
  readonly notSeenSince: string;
  /** Empty for both. */
  readonly status: UserGroupStatus | '';
  /** Each `path.of.members=value`. */
  readonly properties: readonly string[];
  /** Days as `2026-01-31`, in the time zone of the person; both are included. */
  readonly createdFrom: string;
  readonly createdTo: string;
  readonly updatedFrom: string;
  readonly updatedTo: string;
  /** A text attribute that has this value: `region-is`. */
  readonly [text: `${string}-is`]: string;
  readonly sort: UserGroupOrderField;
  readonly direction: OrderDirection;
  readonly after: string;
  readonly before: string;
  readonly size: number;
}

/** How many groups a page may have. */
export const pageSizes = [20, 50, 100] as const;

/** What lists can be filtered by. */
export const statuses = [
  { value: 'ACTIVE', label: 'Active' },
  { value: 'SUSPENDED', label: 'Suspended' },
] as const;

/** The most properties that a filter may have. */
export const maxProperties = 5;

const sortFields: readonly UserGroupOrderField[] = ['CREATED', 'UPDATED', 'NAME', 'PROVIDED_ID'];

/** The text attributes that are filtered by, with the name that the filter has in the URL. */
export const textFilters = textAttributes
  .filter(({ isFiltered }) => isFiltered)
  .map(({ name, label }) => ({ name, label, key: `${name}-is` as const }));

/** What is made of each text filter, by its key. */
const byText = (value: (key: (typeof textFilters)[number]['key']) => string): Readonly<Record<`${string}-is`, string>> =>
  Object.fromEntries(textFilters.map(({ key }) => [key, value(key)]));

/** A text to search for: of 255 characters, as the API counts them. */
const searchable = (text: string): string => [...withoutToken(text)].slice(0, 255).join('');

/** Reads the state from a URL; what is not valid there is ignored, and {@link unusedGroupFilter} has it. */
export function readState(query: URLSearchParams): ListState {
  const environment = query.get('environment') ?? '';
  const size = Number(query.get('size'));
  const text = (name: string) => searchable(query.get(name) ?? '');
  const day = (name: string) => (dayStart(query.get(name) ?? '') ? (query.get(name) ?? '') : '');
  return {
    search: text('search'),
    environment: isEnvironmentChoice(environment) ? environment : '',
    notSeenSince: day('not-seen-since'),
    status: statuses.find(({ value }) => value === query.get('status'))?.value ?? '',
    properties: query.getAll('property').filter(parseProperty).slice(0, maxProperties),
    createdFrom: day('created-from'),
    createdTo: day('created-to'),
    updatedFrom: day('updated-from'),
    updatedTo: day('updated-to'),
    ...byText(text),
    sort: sortFields.find((field) => field === query.get('sort')) ?? 'CREATED',
    direction: query.get('direction') === 'ASC' ? 'ASC' : 'DESC',
    after: query.get('after') ?? '',
    before: query.get('before') ?? '',
    size: pageSizes.find((candidate) => candidate === size) ?? 20,
  };
}

/** The list of the newest groups. */
export const initialState = readState(new URLSearchParams());

/** What a URL has of the state: what differs from {@link initialState}. */
export function queryOf(state: ListState): QueryValues {
  return {
    search: searchable(state.search),
    environment: state.environment,
    'not-seen-since': state.notSeenSince,
    status: state.status,
    property: state.properties,
    'created-from': state.createdFrom,
    'created-to': state.createdTo,
    'updated-from': state.updatedFrom,
    'updated-to': state.updatedTo,
    ...byText((key) => searchable(state[key] ?? '')),
    sort: state.sort === initialState.sort ? '' : state.sort,
    direction: state.direction === initialState.direction ? '' : state.direction,
    after: state.after,
    before: state.before,
    size: state.size === initialState.size ? '' : String(state.size),
  };
}

/** What a URL has that is no filter of groups. */
export function unusedGroupFilter(query: URLSearchParams): Failure | undefined {
  return unusedFilter(query, queryOf(readState(query)));
}

/** The filter of a state; undefined if every group is listed. */
export function filterOf(state: ListState): UserGroupFilter | undefined {
  const properties = state.properties.map(parseProperty).filter((filter) => filter !== undefined);
  const created = rangeOf(state.createdFrom, state.createdTo);
  const updated = rangeOf(state.updatedFrom, state.updatedTo);
  const notSeenSince = dayStart(state.notSeenSince);
  const filter: UserGroupFilter = {
    ...(state.search && { search: state.search }),
    ...(state.environment && { environmentTag: { tag: tagOf(state.environment) } }),
    ...(state.status && { status: state.status }),
    ...(notSeenSince && { notResolvedSince: notSeenSince }),
    ...(properties.length > 0 && { properties }),
    ...(created && { createdAt: created }),
    ...(updated && { updatedAt: updated }),
    ...Object.fromEntries(textFilters.map(({ name, key }) => [name, state[key]]).filter(([, text]) => text)),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}

/** The conditions of a state's filter, each as a text to read. */
export function conditionsOf(state: ListState): string[] {
  const range = (name: string, from: string, to: string) =>
    [name, from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(' ');
  return [
    state.search && `Name or provided id contains ${state.search}`,
    state.environment && `Environment is ${environmentLabel(tagOf(state.environment))}`,
    state.status && `Status is ${state.status.toLowerCase()}`,
    state.notSeenSince && `Not seen since ${state.notSeenSince}`,
    ...state.properties.map((property) => `Property ${property}`),
    (state.createdFrom || state.createdTo) && range('Created', state.createdFrom, state.createdTo),
    (state.updatedFrom || state.updatedTo) && range('Updated', state.updatedFrom, state.updatedTo),
    ...textFilters.map(({ key, label }) => (state[key] ? `${label} is ${state[key]}` : '')),
  ].filter((condition) => condition !== '');
}

/** How many of the conditions that are not always shown a state has. */
export function countFurtherFilters(state: ListState): number {
  const days = [state.createdFrom, state.createdTo, state.updatedFrom, state.updatedTo].filter(Boolean).length;
  const others = [state.status, state.notSeenSince].filter(Boolean).length;
  return others + state.properties.length + days + textFilters.filter(({ key }) => state[key]).length;
}

/** `plan=gold` as a filter: the value is JSON where it can be, otherwise a text. Undefined if it has no path. */
export function parseProperty(text: string): PropertyFilter | undefined {
  const equals = text.indexOf('=');
  const path = text.slice(0, equals).trim().split('.');
  if (equals < 1 || path.includes('') || path.length > 32) return undefined;
  return { path, equals: parseValue(text.slice(equals + 1).trim()) };
}

/** The search as a team id; undefined if it cannot be one. */
export function teamIdOf({ search }: ListState): number | undefined {
  return /^\d{1,10}$/.test(search) && Number(search) < 2 ** 31 ? Number(search) : undefined;
}

function parseValue(text: string): unknown {
  try {
    return new RawJson(text);
  } catch {
    return text;
  }
}

function rangeOf(from: string, to: string): DateTimeRange | undefined {
  const [start, end] = [dayStart(from), dayStart(to, 1)];
  return start || end ? { ...(start && { from: start }), ...(end && { to: end }) } : undefined;
}
