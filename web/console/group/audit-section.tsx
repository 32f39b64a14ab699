import { hrefOf, Link } from '../app/router.tsx';
import { EventList } from '../audit/event-list.tsx';
import { ImportNote } from '../audit/import-note.tsx';
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
  const types = page?.nodes.map(({ type }) => type) ?? [];
  // An event before a move belongs to another environment, whose events this person may not see.
  const hasNoCreation =
    page?.pageInfo.hasNextPage === false &&
    !types.includes('USER_GROUP_CREATED') &&
    !types.includes('USER_GROUP_ENVIRONMENT_CHANGED');
  return (
    <Section title="Audit log" description="The latest changes of this group.">
      <FailureNotice title="The audit log could not be loaded" failure={failure} onRetry={reload} />
      {!page && isLoading && <LoadingRows rows={3} />}
      {page && page.nodes.length > 0 && <EventList events={page.nodes} isLoading={isLoading} isOfOneGroup />}
      {hasNoCreation && (
        <p className="muted">
          {types.length === 0
            ? 'No change is recorded. The group was imported, or its events were removed because of their age.'
            : 'Its creation is not recorded. The group was imported, or the event was removed because of its age.'}
        </p>
      )}
      {page && <ImportNote />}
      {page?.pageInfo.hasNextPage && <Link href={hrefOf('audit-log', { group: group.id })}>Every event of this group</Link>}
    </Section>
  );
}
