import { useCallback, useEffect, useMemo, useState } from 'react';
import { hrefOf, navigate, usePlace } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import type { Failure } from '../graphql/failure.ts';
import { FindGroup, GroupCount, GroupList, type GroupRowFragment } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { PlusIcon } from '../ui/icons.tsx';
import { Pager, pageArguments } from '../ui/pager.tsx';
import { LoadingRows } from '../ui/states.tsx';
import { DeleteSeveral } from './delete-several.tsx';
import { NoGroups } from './empty.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { Filters } from './filters.tsx';
import { FoundGroup, GroupOfToken } from './found-group.tsx';
import { filterOf, initialState, type ListState, queryOf, readState, teamIdOf, unusedGroupFilter } from './list-state.ts';
import { NewGroup } from './new-group.tsx';
import { GroupTable } from './table.tsx';

interface OpenDialog {
  readonly is: 'new' | 'export' | 'export-selected' | 'delete';
  /** What was selected when it was opened: a list that comes later ends the selection. */
  readonly groups: readonly GroupRowFragment[];
}

/** The list of user groups. What it shows is in the URL. */
export default function Groups() {
  const { query } = usePlace();
  const { can } = useSession();
  const state = useMemo(() => readState(query), [query]);
  const filter = useMemo(() => filterOf(state), [state]);
  const unused = useMemo(() => unusedGroupFilter(query), [query]);
  const orderBy = { field: state.sort, direction: state.direction };
  const position = state.before ? { before: state.before } : state.after ? { after: state.after } : {};
  const list = useQuery(
    GroupList,
    unused ? undefined : { ...pageArguments(position, state.size), filter: filter ?? null, orderBy },
  );
  const count = useQuery(GroupCount, unused ? undefined : { filter: filter ?? null });
  const teamId = teamIdOf(state);
  const byTeamId = useQuery(FindGroup, teamId === undefined ? undefined : { by: { teamId } });
  const found = byTeamId.data?.userGroup?.teamId === teamId ? byTeamId.data?.userGroup : undefined;
  /** A text in the search field that is not searched for, because it has a token: neither in the URL nor in the list's filter. */
  const [typedToken, setTypedToken] = useState<string>();
  // The back button may have brought a search.
  const tokenText = state.search ? undefined : typedToken;
  useEffect(() => {
    if (state.search) setTypedToken(undefined);
  }, [state.search]);
  const [selected, setSelected] = useState<ReadonlyMap<string, GroupRowFragment>>(new Map());
  const [dialog, setDialog] = useState<OpenDialog>();

  /** Shows another part of the list; unless it is only another page, from its beginning. */
  const show = useCallback(
    (change: Partial<ListState>, options?: Parameters<typeof navigate>[1]) =>
      navigate(
        hrefOf('groups', queryOf({ ...readState(new URLSearchParams(location.search)), after: '', before: '', ...change })),
        options,
      ),
    [],
  );
  // What is selected and no longer shown could be deleted by mistake.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selection belongs to the page that is shown
  useEffect(() => setSelected(new Map()), [list.data, tokenText]);

  const refresh = () => {
    setSelected(new Map());
    list.reload();
    count.reload();
    byTeamId.reload();
  };
  const open = (is: OpenDialog['is']) => setDialog({ is, groups: [...selected.values()] });
  const close = () => setDialog(undefined);
  const closeNew = () => {
    close();
    refresh(); // also without a response, the group may have been created
  };
  const page = tokenText === undefined && !unused ? list.data?.userGroups : undefined;
  const rows = page?.nodes ?? [];
  const isFirstPage = !state.after && !state.before;
  const isEmpty = page !== undefined && rows.length === 0 && !list.isLoading && !list.failure;
  // The groups of the page were deleted: others may be left.
  useEffect(() => {
    if (isEmpty && !isFirstPage) show({}, { replace: true, discards: true });
  }, [isEmpty, isFirstPage, show]);

  return (
    <>
      <header className="page-header">
        <h1>Groups</h1>
        <div className="actions">
          <Button onClick={() => open('export')} disabled={rows.length === 0}>
            Export
          </Button>
          {can('GROUPS_WRITE') && (
            <Button variant="primary" onClick={() => open('new')}>
              <PlusIcon /> New group
            </Button>
          )}
        </div>
      </header>
      <Filters state={state} onChange={show} onToken={setTypedToken} />
      {tokenText !== undefined && <GroupOfToken text={tokenText} />}
      {found && <FoundGroup label={`The group with the team id ${teamId}`} group={found} />}
      <FailureNotice
        title={`The group with the team id ${teamId} could not be loaded`}
        failure={byTeamId.failure}
        onRetry={byTeamId.reload}
      />
      <FailureNotice
        title="The groups could not be loaded"
        failure={unused ?? list.failure}
        onRetry={list.reload}
        onReset={() => navigate(hrefOf('groups'))}
      />
      {selected.size > 0 && (
        <section className="selection" aria-label="Selected groups">
          <span role="status">{selected.size} selected</span>
          <Button className="small" disabled={list.isOutdated} onClick={() => open('export-selected')}>
            Export
          </Button>
          {can('GROUPS_WRITE') && (
            <Button className="small" variant="danger" disabled={list.isOutdated} onClick={() => open('delete')}>
              Delete …
            </Button>
          )}
          <Button className="small" variant="quiet" onClick={() => setSelected(new Map())}>
            Clear the selection
          </Button>
        </section>
      )}
      {!page && list.isLoading && tokenText === undefined && <LoadingRows rows={10} />}
      {isEmpty && isFirstPage && !byTeamId.failure && (
        <NoGroups
          isOneFound={found !== undefined}
          isFiltered={filter !== undefined}
          onClear={() => navigate(hrefOf('groups', queryOf({ ...initialState, size: state.size })))}
          onCreate={can('GROUPS_WRITE') ? () => open('new') : undefined}
        />
      )}
      {rows.length > 0 && (
        <>
          <GroupTable
            {...{ rows, state, selected }}
            isLoading={list.isLoading}
            isOutdated={list.isOutdated}
            onSelect={setSelected}
            onSort={show}
          />
          <Pager
            pageInfo={page?.pageInfo}
            isFirstPage={isFirstPage}
            isOutdated={list.isOutdated}
            onMove={({ after = '', before = '' }) => {
              show({ after, before });
              scrollTo(0, 0);
            }}
          >
            <Count isLoading={count.isLoading} value={count.data?.userGroups?.totalCount} failure={count.failure} />
          </Pager>
        </>
      )}
      {dialog?.is === 'new' && <NewGroup initialEnvironment={state.environment} onClose={closeNew} />}
      {dialog?.is === 'export' && <ExportDialog state={state} onClose={close} />}
      {dialog?.is === 'export-selected' && <ExportDialog state={state} selected={dialog.groups} onClose={close} />}
      {dialog?.is === 'delete' && <DeleteSeveral groups={dialog.groups} onClose={close} onDeleted={refresh} />}
    </>
  );
}

interface CountProps {
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
  readonly value: number | null | undefined;
}

function Count({ isLoading, failure, value }: CountProps) {
  if (isLoading) return <span>Counting …</span>;
  if (failure) return <span>The groups could not be counted: {failure.message}</span>;
  if (value == null) return <span>Too many to count quickly</span>;
  return <span>{value === 1 ? '1 group' : `${value.toLocaleString('en')} groups`}</span>;
}
