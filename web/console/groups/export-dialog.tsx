import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { Failure } from '../graphql/failure.ts';
import { GroupCount, type GroupRowFragment, textAttributes } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useQuery } from '../graphql/use-query.ts';
import { nounOf } from '../group/text-attributes.ts';
import { environmentLabel } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { download } from '../ui/download.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { WarningIcon } from '../ui/icons.tsx';
import { useMessage } from '../ui/messages.tsx';
import { type ExportFormat, exportGroups, maxExported } from './export.ts';
import { conditionsOf, filterOf, type ListState } from './list-state.ts';

/** Exports every group, without a limit. */
const command = 'npm run -s gateway -- groups export --output groups.ndjson';

interface ExportDialogProps {
  /** What the list shows. */
  readonly state: ListState;
  /** The only groups to export, at most 100; every group that the list's filter matches if undefined. */
  readonly selected?: readonly GroupRowFragment[];
  readonly onClose: () => void;
}

/** Saves groups as a file: all of them, or none. */
export function ExportDialog({ state, selected, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportFormat>('ndjson');
  const [progress, setProgress] = useState(0);
  const [isWaiting, setIsWaiting] = useState(false);
  const [isTooLarge, setIsTooLarge] = useState(false);
  const showMessage = useMessage();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const filter = filterOf(state);
  const counting = useQuery(GroupCount, selected ? undefined : { filter: filter ?? null });
  const count = selected?.length ?? counting.data?.userGroups?.totalCount ?? undefined;
  const isRefused = isTooLarge || (count !== undefined && count > maxExported);

  const saving = useMutation(async (client) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    setProgress(0);
    setIsWaiting(false);
    const exported = await exportGroups(client, {
      filter: selected ? { providedIds: selected.map(({ providedId }) => providedId) } : filter,
      // Groups of two environments may share a provided id.
      ids: selected && new Set(selected.map(({ id }) => id)),
      format,
      signal,
      onProgress: (count, isWaiting) => {
        setProgress(count);
        setIsWaiting(isWaiting);
      },
    });
    setIsTooLarge(!exported);
    if (!exported) return undefined;
    const missing = selected ? selected.length - exported.count : 0;
    if (missing > 0) {
      const verb = missing === 1 ? 'exists' : 'exist';
      throw new Failure('NOT_FOUND', `${missing} of the ${countOf(selected?.length, 'selected ')} no longer ${verb}.`);
    }
    const mediaType = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    download(`user-groups-${new Date().toISOString().slice(0, 10)}.${format}`, exported.parts, mediaType);
    return exported.count;
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const exported = await saving.run();
    if (exported === undefined) return;
    showMessage(`Exported ${countOf(exported)}`);
    onClose();
  };

  return (
    // Closing it ends what it reads.
    <Dialog
      title={selected ? `Export ${countOf(selected.length)}` : 'Export groups'}
      onClose={onClose}
      isBusy={saving.isRunning}
      isClosable
    >
      <form onSubmit={(event) => void submit(event)}>
        {counting.isLoading && <p>Counting the groups …</p>}
        <FailureNotice title="The groups could not be counted" failure={counting.failure} onRetry={counting.reload} />
        {!counting.isLoading && !isRefused && <Scope count={count} state={state} isSelection={selected !== undefined} />}
        <div role="alert">{isRefused && <TooMany count={count} />}</div>
        {!isRefused && (
          <p className="muted">
            The file has the provided id, {textAttributes.map((attribute) => `${nounOf(attribute)}, `)}mapping, properties and
            environment of each group, the newest group first, and no tokens. A change that is made while the groups are read may
            be missing in it.
          </p>
        )}
        <DialogFields isLocked={saving.isRunning}>
          <SelectField
            label="Format"
            value={format}
            options={[
              { value: 'ndjson', label: 'NDJSON: one JSON object per line' },
              { value: 'csv', label: 'CSV: for spreadsheets' },
            ]}
            onChange={setFormat}
          />
        </DialogFields>
        <FailureNotice title="The groups were not exported" failure={saving.failure} />
        <p role="status">
          {saving.isRunning && `Read ${countOf(progress)} …`}
          {saving.isRunning && isWaiting && ' The API token has reached its rate limit. The export waits, then continues.'}
        </p>
        <DialogFooter isDisabled={isRefused || counting.isLoading}>Export</DialogFooter>
      </form>
    </Dialog>
  );
}

interface ScopeProps {
  /** Undefined if there are too many to count, or they could not be counted. */
  readonly count: number | undefined;
  readonly state: ListState;
  readonly isSelection: boolean;
}

/** Which groups are exported. */
function Scope({ count, state, isSelection }: ScopeProps) {
  const { caller, can } = useSession();
  if (isSelection) return <p>Saves the selected groups as a file.</p>;
  const conditions = conditionsOf(state);
  if (conditions.length === 0) {
    const place = can('ADMIN') ? 'every environment' : `the environment ${environmentLabel(caller.environmentTag)}`;
    return <p>{`Saves all ${count === undefined ? 'groups' : countOf(count)} of ${place} as a file.`}</p>;
  }
  const groups =
    count === undefined ? 'every group that matches' : `${countOf(count)}, which ${count === 1 ? 'matches' : 'match'}`;
  return (
    <>
      <p>{`Saves ${groups} every filter, as a file:`}</p>
      <ul className="conditions">
        {conditions.map((condition) => (
          <li key={condition}>{condition}</li>
        ))}
      </ul>
    </>
  );
}

/** Why the groups are not exported here, and what exports them. */
function TooMany({ count }: { readonly count: number | undefined }) {
  const isCounted = count !== undefined && count > maxExported;
  return (
    <div className="notice bad">
      <WarningIcon />
      <div className="notice-text">
        <strong>{isCounted ? `${countOf(count)} are too many to export here` : 'The groups were not exported'}</strong>
        <p>
          The console exports at most {maxExported.toLocaleString('en')} groups, of 100 MB together. Narrow the filter, or run
          this in the folder of the gateway, which exports every group with its token (with <code>npx user-group-gateway</code>{' '}
          instead of <code>npm run -s gateway --</code> where it is installed as a package):
        </p>
        <div className="command">
          <pre>
            <code>{command}</code>
          </pre>
          <CopyButton text={command} label="Copy the command" />
        </div>
      </div>
    </div>
  );
}

const countOf = (count = 0, kind = ''): string =>
  count === 1 ? `1 ${kind}group` : `${count.toLocaleString('en')} ${kind}groups`;
