import { outsideHref } from '../app/router.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { EmptyState } from '../ui/states.tsx';

interface NoGroupsProps {
  /** Whether a group is shown that was found by its team id. */
  readonly isOneFound: boolean;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly onCreate: (() => void) | undefined;
}

/** What stands in the place of the list when it has no group. */
export function NoGroups({ isOneFound, isFiltered, onClear, onCreate }: NoGroupsProps) {
  if (isOneFound) return <p className="muted">No other group matches.</p>;
  if (isFiltered) {
    return (
      <EmptyState title="No group matches">
        <p>No group that you may see meets every condition. Check the spelling, or remove a filter.</p>
        <Button onClick={onClear}>Remove every filter</Button>
      </EmptyState>
    );
  }
  const command = [
    `curl -X GET ${outsideHref('api/user')}`,
    `-H "Authorization: Token $API_TOKEN" -H 'Content-Type: application/json'`,
    `-d '{"user_group_id": "acme", "name": "ACME"}'`,
  ].join(' \\\n  ');
  return (
    <EmptyState title="No groups yet">
      <p>A user group is a set of end users who view embedded dashboards. Your backend creates it when it first needs it:</p>
      <div className="command">
        <pre>
          <code>{command}</code>
        </pre>
        <CopyButton text={command} label="Copy the command" />
      </div>
      {onCreate && (
        <p>
          Or create one here:{' '}
          <Button variant="primary" onClick={onCreate}>
            New group
          </Button>
        </p>
      )}
    </EmptyState>
  );
}
