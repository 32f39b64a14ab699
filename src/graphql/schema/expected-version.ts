import { maxVersion } from '../../domain/user-group-input.ts';
import type { GraphQLContext } from './context.ts';

/** The description of the input field `expectedVersion`. */
export const expectedVersionDescription =
  `The version that the group must have, from 1 to ${maxVersion}: the one that you read. If it has another one, nothing is ` +
  'changed, and the result is VersionMismatch with the group as it is. Without it, or with null, any version is changed.';

/** The versions that the group may have: that of the input, or those of the HTTP request. Undefined permits any. */
export function expectedVersionsOf(
  { expectedVersion }: { readonly expectedVersion?: number | null | undefined },
  { expectedVersions }: Pick<GraphQLContext, 'expectedVersions'>,
): readonly number[] | undefined {
  return expectedVersion == null ? expectedVersions : [expectedVersion];
}
