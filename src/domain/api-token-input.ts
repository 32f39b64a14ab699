import { type Scope, scopeNames } from './caller.ts';
import { InvalidInput, type Issue } from './errors.ts';
import { isStorableTime } from './keyset.ts';
import { printableIssues, textIssues } from './limits.ts';

/** The longest that a replaced secret stays accepted, in seconds: a week. */
export const maxOverlapSeconds = 604_800;

/** What is checked of an API token to issue. */
export interface ApiTokenFields {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
}

/**
 * Checks the properties of an API token to issue.
 *
 * @param now the time, by the database's clock.
 * @throws InvalidInput.
 */
export function checkApiToken({ name, scopes, expiresAt }: ApiTokenFields, now: Date): void {
  const issues = [...apiTokenNameIssues(name), ...scopeIssues(scopes), ...expiryIssues(expiresAt, now)];
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** The issues of the name of an API token to issue. */
export function apiTokenNameIssues(name: string): Issue[] {
  const issues = textIssues(['name'], name);
  return issues.length > 0 ? issues : printableIssues(['name'], name);
}

/** Checks how long a replaced secret stays accepted: 0 to {@link maxOverlapSeconds}, whole. @throws InvalidInput. */
export function checkOverlap(overlapSeconds: number): void {
  if (Number.isInteger(overlapSeconds) && overlapSeconds >= 0 && overlapSeconds <= maxOverlapSeconds) return;
  throw new InvalidInput([{ path: ['overlapSeconds'], message: `must be a whole number from 0 to ${maxOverlapSeconds}.` }]);
}

function scopeIssues(scopes: readonly Scope[]): Issue[] {
  if (scopes.length > 0) return [];
  return [{ path: ['scopes'], message: `must contain at least one of ${scopeNames.join(', ')}.` }];
}

function* expiryIssues(expiresAt: Date | null, now: Date): Generator<Issue> {
  if (!expiresAt) return;
  if (!(expiresAt > now)) yield { path: ['expiresAt'], message: 'must be in the future.' };
  else if (!isStorableTime(expiresAt.getTime()))
    yield { path: ['expiresAt'], message: 'must be in the years 1 to 9999, in UTC.' };
}
