import { hrefOf, Link } from '../app/router.tsx';
import { EventList } from '../audit/event-list.tsx';
import { EventList as EventListDocument } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import { LoadingRows } from '../ui/states.tsx';
import type { GroupSectionProps } from './group.tsx';

const shownEvents = 10;

/** The latest changes of the group. */
export function AuditSection({ group }: Pick<GroupSectionProps, 'group'>) {
  const variables = { first: shownEvents, filter: { userGroup: { id: group.id } } };
  // Loaded again after each change of the group.
  const { data, failure, isLoading, reload } = useQuery(EventListDocument, variables, `${group.id} ${JSON.stringify(group)}`);
  const page = data?.events;
  return (
    <Section title="Audit log" description="The latest changes of this group.">
      <FailureNotice title="The audit log could not be loaded" failure={failure} onRetry={reload} />
      {!page && isLoading && <LoadingRows rows={3} />}
      {page?.nodes.length === 0 && <p className="muted">No change has been recorded.</p>}
      {page && page.nodes.length > 0 && <EventList events={page.nodes} isLoading={isLoading} isOfOneGroup />}
      {page?.pageInfo.hasNextPage && <Link href={hrefOf('audit-log', { group: group.id })}>Every change of this group</Link>}
    </Section>
  );
}
