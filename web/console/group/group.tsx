import { useRef } from 'react';
import { hrefOf, Link, usePlace } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import { type GroupDetailFragment, Group as GroupDocument, textAttributes } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { EnvironmentBadge, StatusBadge } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { AuditSection } from './audit-section.tsx';
import { DeleteSection } from './delete-section.tsx';
import { EmbedSection } from './embed-section.tsx';
import { EnvironmentSection } from './environment-section.tsx';
import { MappingSection } from './mapping-section.tsx';
import { PropertiesSection } from './properties-section.tsx';
import { StatusSection } from './status-section.tsx';
import { furtherTexts } from './text-attributes.ts';
import { TextSection } from './text-section.tsx';
import { TokenSection } from './token-section.tsx';

/** What every part of the page gets. */
export interface GroupSectionProps {
  readonly group: GroupDetailFragment;
  /** Called with the group as it is stored after a change. */
  readonly onChanged: (group: GroupDetailFragment) => void;
  /** Reads the group again. */
  readonly reload: () => void;
  /** Whether the group is up to date: it is not being read again, and the last attempt to read it succeeded. */
  readonly isCurrent: boolean;
}

/** One user group, by the id in the URL. */
export default function Group() {
  const { query } = usePlace();
  const id = query.get('id') ?? '';
  return <GroupById key={id} id={id} />;
}

function GroupById({ id }: { readonly id: string }) {
  const { can } = useSession();
  const { data, failure, isLoading, reload, setData } = useQuery(GroupDocument, id ? { by: { id } } : undefined);
  const group = data?.userGroup;
  const latest = useRef(group);
  latest.current = group;
  const onChanged = (userGroup: GroupDetailFragment) => {
    // The response to an earlier change may come after that to a later one; or an earlier state was restored.
    const isOlder = latest.current && userGroup.version < latest.current.version;
    if (isOlder) reload();
    else setData({ userGroup });
  };

  if (!group) {
    return (
      <>
        <Breadcrumb />
        <h1>Group</h1>
        <FailureNotice title="The group could not be loaded" failure={failure} onRetry={reload} />
        {isLoading && <LoadingRows rows={4} />}
        {!isLoading && !failure && (
          <EmptyState title="There is no such group">
            <p>It was deleted, or belongs to an environment that your API token has no access to.</p>
            <Link href={hrefOf('groups')}>All groups</Link>
          </EmptyState>
        )}
      </>
    );
  }
  const props = { group, onChanged, reload, isCurrent: !isLoading && !failure };
  return (
    <>
      <Breadcrumb />
      <header className="page-header">
        <h1>
          <span className="name" title={group.name}>
            {group.name.trim() || group.providedId}
          </span>{' '}
          <EnvironmentBadge tag={group.environmentTag} /> <StatusBadge status={group.status} />
        </h1>
      </header>
      <FailureNotice title="The group could not be loaded" failure={failure} onRetry={reload} />
      <Facts group={group} />
      {!can('GROUPS_WRITE') && (
        <p className="notice">
          You can read this group. To change it, sign in with an API token that has the scope <code>groups:write</code>.
        </p>
      )}
      {(can('GROUPS_WRITE') ? textAttributes : furtherTexts).map((attribute) => (
        <TextSection key={attribute.name} attribute={attribute} {...props} />
      ))}
      <TokenSection {...props} />
      <MappingSection {...props} />
      <PropertiesSection {...props} />
      {can('EMBED_SIGN') && <EmbedSection group={group} />}
      {can('AUDIT_READ') && <AuditSection group={group} />}
      {can('ADMIN') && <EnvironmentSection {...props} />}
      {(can('GROUPS_WRITE') || group.status === 'SUSPENDED') && <StatusSection {...props} />}
      {can('GROUPS_WRITE') && <DeleteSection {...props} />}
    </>
  );
}

function Breadcrumb() {
  return (
    <nav className="breadcrumb" aria-label="Breadcrumb">
      <span aria-hidden="true">←</span> <Link href={hrefOf('groups')}>Groups</Link>
    </nav>
  );
}

function Facts({ group }: { readonly group: GroupDetailFragment }) {
  return (
    <dl className="facts">
      <div>
        <dt>Provided id</dt>
        <dd>
          <code>{group.providedId}</code>
          <CopyButton text={group.providedId} label="Copy the provided id" />
        </dd>
      </div>
      <div>
        <dt>Team id</dt>
        <dd>
          <code>{group.teamId}</code>
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time value={group.createdAt} />
        </dd>
      </div>
      <div>
        <dt>Updated</dt>
        <dd>
          <Time value={group.updatedAt} />
        </dd>
      </div>
      <div>
        <dt>Last seen</dt>
        <dd title="When one of its tokens was last looked up; renewed at most once an hour">
          {group.lastResolvedAt ? <Time value={group.lastResolvedAt} /> : <span className="muted">never</span>}
        </dd>
      </div>
    </dl>
  );
}
