import { InvalidInput, type Issue } from './errors.ts';
import type { EventType } from './event-types.ts';
import { type PageInput, pageSizeIssues } from './page.ts';
import { checkSelector } from './user-group-input.ts';
import { type DateTimeRange, rangeIssues } from './user-group-list-input.ts';
import type { UserGroupBy } from './user-groups.ts';

/** Conditions that must all hold; null counts as omitted. */
export interface EventFilter {
  /** Types of events; none selects nothing. */
  readonly types?: readonly EventType[] | null | undefined;
  /** The group that the events are about; `no group` for a selector that cannot be a group's. It may be deleted. */
  readonly userGroup?: UserGroupBy | 'no group' | null | undefined;
  /** The number of an API token that made the changes, or that was changed; `no API token` for an ID that is not one's. */
  readonly apiTokenId?: number | 'no API token' | null | undefined;
  readonly occurredAt?: DateTimeRange | null | undefined;
}

/** Which events are asked for. */
export interface EventListInput extends PageInput {
  readonly filter?: EventFilter | null | undefined;
}

const notAnApiToken: Issue = { path: ['filter', 'apiTokenId'], message: 'must be the ID of an API token.' };

/** Checks a list's input except its cursors. @throws InvalidInput with every issue, up to ten. */
export function checkEventList({ filter, ...page }: EventListInput): void {
  const { userGroup, apiTokenId, occurredAt } = filter ?? {};
  const issues = [
    ...pageSizeIssues(page),
    ...(userGroup != null && userGroup !== 'no group'
      ? issuesOf(() => checkSelector(userGroup), ['filter', 'userGroup'], 1)
      : []),
    ...(apiTokenId === 'no API token' ? [notAnApiToken] : []),
    ...rangeIssues(['filter', 'occurredAt'], occurredAt ?? {}),
  ];
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** The issues that a check finds, at a path that replaces the first `replaced` steps of its own. */
function issuesOf(check: () => unknown, path: Issue['path'], replaced: number): Issue[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path.slice(replaced)] }));
  }
}
