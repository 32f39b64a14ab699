import { tokenPrefixes } from '../../../src/token-prefixes.ts';
import { hrefOf, Link } from '../app/router.tsx';
import { FindGroup, type GroupRowFragment } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { EnvironmentBadge, StatusBadge } from '../ui/badge.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { groupTokenIn } from '../ui/token-text.ts';

/** The group with a token, which is sent as a variable and is never in a URL. @param text has a token, or a part of one. */
export function GroupOfToken({ text }: { readonly text: string }) {
  const token = groupTokenIn(text);
  const { data, failure, isLoading, reload } = useQuery(FindGroup, token === undefined ? undefined : { by: { token } });
  if (token === undefined) {
    return (
      <EmptyState title="This is not a user group token">
        <p>
          A user group token is <code>{tokenPrefixes.userGroup}</code> and 36 letters and digits after it. What looks like a part
          of one, or like an API token, is not searched for: a search is in the URL.
        </p>
      </EmptyState>
    );
  }
  if (failure) return <FailureNotice title="The group could not be loaded" failure={failure} onRetry={reload} />;
  if (isLoading) return <LoadingRows rows={1} />;
  if (data?.userGroup) return <FoundGroup label="The group with this token" group={data.userGroup} />;
  return (
    <EmptyState title="No group has this token">
      <p>
        The token was rotated and its grace period is over, a character of it is wrong, its group was deleted, or the group is
        suspended or belongs to an environment that your API token has no access to. Groups that are suspended are found by their
        name or id.
      </p>
    </EmptyState>
  );
}

interface FoundGroupProps {
  /** What it was found by. */
  readonly label: string;
  readonly group: GroupRowFragment;
}

/** A group that was found by more than a part of its name or provided id. */
export function FoundGroup({ label, group }: FoundGroupProps) {
  return (
    <section className="found-group" aria-label={label}>
      <span className="muted">{label}:</span>{' '}
      <Link href={hrefOf('group', { id: group.id })}>{group.name.trim() || group.providedId}</Link>{' '}
      <code>{group.providedId}</code> <EnvironmentBadge tag={group.environmentTag} /> <StatusBadge status={group.status} />
    </section>
  );
}
