import { useState } from 'react';
import type { Client } from '../graphql/client.ts';
import { type GroupDetailFragment, textAttributes } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { environmentLabel } from '../ui/badge.tsx';
import type { GroupSectionProps } from './group.tsx';
import { type Difference, differencesOf } from './merge.ts';

/** The result of a mutation that was not made, because the group has another version. */
interface VersionMismatch {
  readonly __typename: 'VersionMismatch';
  readonly userGroup: GroupDetailFragment;
}

/**
 * Changes the group after a person has confirmed it. If the group is no longer as it was then, it is shown as it is now, and the
 * person has to confirm again.
 *
 * @param change sends the operation for the group as the person has seen it; must throw a failure, but return a mismatch.
 */
export function useConfirmed<Result extends { readonly __typename: string }>(
  { group, onChanged, reload }: GroupSectionProps,
  change: (client: Client, seen: GroupDetailFragment) => Promise<Result>,
) {
  /** Not the latest group: a change that is still on its way may replace that one under the open dialog. */
  const [seen, setSeen] = useState(group);
  const [differences, setDifferences] = useState<readonly Difference[]>();
  const mutation = useMutation(async (client) => {
    setDifferences(undefined);
    const result = await change(client, seen);
    if (!isMismatch(result)) return result as Exclude<Result, { readonly __typename: 'VersionMismatch' }>;
    setDifferences(differencesOf(visible(seen), visible(result.userGroup)));
    setSeen(result.userGroup);
    onChanged(result.userGroup);
    return undefined;
  }, reload);
  return { ...mutation, seen, differences };
}

const isMismatch = (result: { readonly __typename: string }): result is VersionMismatch =>
  result.__typename === 'VersionMismatch';

/** What a person sees of a group, by the names of the page. */
const visible = (group: GroupDetailFragment) => ({
  ...Object.fromEntries(textAttributes.map(({ name, label }) => [label, group[name] ?? undefined])),
  Status: group.status,
  'Reason of the suspension': group.suspendedReason ?? undefined,
  Environment: environmentLabel(group.environmentTag),
  Mapping: Object.fromEntries(group.mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])),
  Properties: group.properties ?? undefined,
});
