import { hrefOf, navigate, usePlace } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import { type EventFilter, EventList as EventListDocument, type EventType, eventTypes } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { dayStart } from '../ui/days.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { DayField, SelectField } from '../ui/field.tsx';
import { Pager, pageArguments } from '../ui/pager.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { unusedFilter } from '../ui/unused-filters.ts';
import { EventList } from './event-list.tsx';
import { GroupFilter } from './group-filter.tsx';
import { ImportNote } from './import-note.tsx';

/** An event may have all the properties of a group, twice: more of them make the page slow to load. */
const pageSize = 20;

/** The parameters of the URL that are filters. */
const filterNames = ['type', 'group', 'provided-id', 'token', 'from', 'to'] as const;

/** The audit log. What it shows is in the URL. */
export default function AuditLog() {
  const { query } = usePlace();
  const { can } = useSession();
  const values = valuesOf(query);
  const [after, before] = [query.get('after'), query.get('before')];
  const position = before ? { before } : after ? { after } : {};
  const filter = filterOf(values);
  const unused = unusedFilter(query, { ...values, ...(values.group && { 'provided-id': '' }) });
  const list = useQuery(EventListDocument, unused ? undefined : { ...pageArguments(position, pageSize), filter });
  const show = (change: Partial<typeof values>) =>
    navigate(hrefOf('audit-log', { ...valuesOf(new URLSearchParams(location.search)), ...change }));
  const page = unused ? undefined : list.data?.events;
  const events = page?.nodes ?? [];

  return (
    <>
      <header className="page-header">
        <h1>Audit log</h1>
      </header>
      <search className="filters">
        <SelectField
          label="Type"
          value={values.type}
          options={[
            { value: '', label: 'Every type' },
            ...Object.entries(eventTypes).map(([value, { name }]) => ({ value, label: name })),
          ]}
          onChange={(type) => show({ type })}
        />
        <GroupFilter
          // A text that was not applied would look like a filter of the next list.
          key={query.toString()}
          groupId={values.group}
          providedId={values['provided-id']}
          apiTokenId={values.token}
          onChange={show}
        />
        <DayField label="From" value={values.from} max={values.to} onChange={(from) => show({ from })} />
        <DayField label="To" value={values.to} min={values.from} onChange={(to) => show({ to })} />
      </search>
      <FailureNotice
        title="The audit log could not be loaded"
        failure={unused ?? list.failure}
        onRetry={list.reload}
        onReset={() => navigate(hrefOf('audit-log'))}
      />
      {!page && !unused && list.isLoading && <LoadingRows />}
      {page && events.length === 0 && !list.isLoading && !list.failure && (
        <EmptyState title={Object.keys(filter).length > 0 ? 'No event matches' : 'No events yet'}>
          <p>
            {can('ADMIN')
              ? 'Every change of a group, an API token, a webhook or a key is recorded, and appears here at once.'
              : 'You see the changes of the groups and API tokens of your environment. Imports, and changes of webhooks and keys, are shown only to API tokens with the scope admin.'}
          </p>
        </EmptyState>
      )}
      {page && (values.group || values['provided-id']) && <ImportNote />}
      {events.length > 0 && (
        <>
          <div className="table-frame">
            <EventList events={events} isLoading={list.isLoading} />
          </div>
          <Pager
            pageInfo={page?.pageInfo}
            isFirstPage={!after && !before}
            isOutdated={list.isOutdated}
            onMove={(next) => {
              navigate(hrefOf('audit-log', { ...values, ...next }));
              scrollTo(0, 0);
            }}
          />
        </>
      )}
    </>
  );
}

/** The filters in the parameters of a URL; those that are not there are empty. */
const valuesOf = (query: URLSearchParams): Record<(typeof filterNames)[number], string> =>
  Object.fromEntries(filterNames.map((name) => [name, query.get(name) ?? ''])) as ReturnType<typeof valuesOf>;

function filterOf(values: ReturnType<typeof valuesOf>): EventFilter {
  // What is no day is sent as it is, for the gateway to say so.
  const [from, to] = [dayStart(values.from) ?? values.from, dayStart(values.to, 1) ?? values.to];
  return {
    ...(values.type && { types: [values.type as EventType] }),
    ...(values.group && { userGroup: { id: values.group } }),
    ...(values['provided-id'] && { userGroup: { providedId: values['provided-id'] } }),
    ...(values.token && { apiTokenId: values.token }),
    ...((from || to) && { occurredAt: { ...(from && { from }), ...(to && { to }) } }),
  };
}
