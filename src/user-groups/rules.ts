import { InvalidInput, type Issue } from '../errors.ts';
import { checkOf, newTextIssues, nullIssues, propertiesIssues, textIssues, type Unchecked } from '../input.ts';
import { givenAttributes } from './attribute-values.ts';
import type { GivenName } from './attributes.ts';
import { maxVersion } from './values.ts';

/** A selector of one user group, not validated yet. */
export type UncheckedBy = Unchecked<'teamId' | 'providedId' | 'token'>;

/** The issues of a new group, of any type; lazy, so that checking stops as soon as enough issues are taken. */
export function* getOrCreateIssues(input: Unchecked<'providedId' | GivenName>): Generator<Issue> {
  yield* newTextIssues(['providedId'], input.providedId);
  yield* fieldIssues(input);
}

/** Checks the input of get-or-create. */
export const checkGetOrCreate = checkOf(getOrCreateIssues);

/** The most groups of one bulk call. */
export const maxBulkGroups = 1_000;

/** Checks how many groups a bulk call has. Each group is checked by {@link checkGetOrCreate}. @throws InvalidInput. */
export function checkBulkSize({ length }: readonly unknown[]): void {
  if (length >= 1 && length <= maxBulkGroups) return;
  throw new InvalidInput([{ path: ['groups'], message: `must have 1 to ${maxBulkGroups} groups.` }]);
}

/** An input that selects a group. */
interface Selecting {
  readonly by: UncheckedBy;
}

/** An input that may name the version that the group must have. */
type Expecting = Unchecked<'expectedVersion'>;

/** The input of an update. */
type UncheckedUpdate = Unchecked<GivenName | 'mergeProperties'> & Expecting & Selecting;

/** Checks the input of an update: the selector, the fields to change, and the expected version. */
export const checkUpdate = checkOf(function* ({ by, mergeProperties, ...change }: UncheckedUpdate) {
  yield* selectorIssues(by);
  if (mergeProperties !== undefined) yield* patchIssues(mergeProperties, change.properties);
  for (const [name, { nullable }] of givenAttributes) {
    if (!nullable) yield* nullIssues({ [name]: change[name] });
  }
  yield* fieldIssues(change);
  yield* versionIssues(change);
});

function* patchIssues(patch: unknown, properties: unknown): Generator<Issue> {
  const path = ['mergeProperties'];
  if (properties !== undefined) yield { path, message: 'must not be combined with properties; send one of them.' };
  if (patch === null) yield { path, message: 'must be a JSON object; to clear all properties, set properties to null.' };
  else yield* propertiesIssues(path, patch);
}

/** Checks properties that a merge patch resulted in. */
export const checkMergedProperties = checkOf((properties: unknown) =>
  propertiesIssues(['mergeProperties'], properties).map(({ path, message }) => ({ path, message: `after the merge ${message}` })),
);

/** Checks the input of a deletion, or a resumption. */
export const checkSelected = checkOf((input: Expecting & Selecting) => [...selectorIssues(input.by), ...versionIssues(input)]);

/** Checks the input of a suspension. */
export const checkSuspend = checkOf(({ reason, ...input }: Unchecked<'reason'> & Expecting & Selecting) => [
  ...selectorIssues(input.by),
  ...(reason == null ? [] : newTextIssues(['reason'], reason)),
  ...versionIssues(input),
]);

/** Checks the input of a change of environment. The environment must be given; `null` means untagged. */
export const checkSetEnvironment = checkOf(function* (input: Unchecked<'environmentTag'> & Expecting & Selecting) {
  yield* selectorIssues(input.by);
  if (input.environmentTag === undefined) yield { path: ['environmentTag'], message: 'is required; null means untagged.' };
  yield* versionIssues(input);
});

/** The longest grace period of a replaced token, in seconds: a week. */
export const maxGraceSeconds = 604_800;

/** Checks the input of a token rotation. */
export const checkRotate = checkOf(function* (
  input: Unchecked<'currentToken' | 'graceSeconds'> & { readonly by?: UncheckedBy | undefined } & Expecting,
) {
  const { currentToken, by, graceSeconds } = input;
  if (by && currentToken != null) yield { path: ['by'], message: 'must not be combined with currentToken; send one of them.' };
  if (by) yield* selectorIssues(by);
  else yield* textIssues(['currentToken'], currentToken);
  const isGracePeriod = Number.isInteger(graceSeconds) && Number(graceSeconds) >= 0 && Number(graceSeconds) <= maxGraceSeconds;
  if (graceSeconds != null && !isGracePeriod) {
    yield { path: ['graceSeconds'], message: `must be a whole number from 0 to ${maxGraceSeconds}.` };
  }
  yield* versionIssues(input);
});

function versionIssues({ expectedVersion }: Expecting): Issue[] {
  const version = Number(expectedVersion ?? 0);
  const isVersion = Number.isInteger(version) && version >= 0 && version <= maxVersion;
  return isVersion ? [] : [{ path: ['expectedVersion'], message: `must be a whole number from 0 to ${maxVersion}.` }];
}

/** The issues of a selector. */
export function selectorIssues(by: UncheckedBy): Issue[] {
  if ('providedId' in by) return textIssues(['by', 'providedId'], by.providedId);
  return 'token' in by ? textIssues(['by', 'token'], by.token) : [];
}

/** Checks a selector. */
export const checkSelector = checkOf(selectorIssues);

function* fieldIssues(given: Unchecked<GivenName>): Generator<Issue> {
  for (const [name, { check }] of givenAttributes) if (given[name] != null) yield* check([name], given[name]);
}
