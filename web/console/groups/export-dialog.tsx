import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { GroupRowFragment, UserGroupFilter, UserGroupOrder } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { download } from '../ui/download.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { type ExportFormat, formatGroups, maxExported, readGroups } from './export.ts';

interface ExportDialogProps {
  /** Which groups to export; every group if undefined. */
  readonly filter?: UserGroupFilter | undefined;
  /** The only groups to export, at most 100. */
  readonly selected?: readonly GroupRowFragment[];
  readonly orderBy: UserGroupOrder;
  readonly onClose: () => void;
}

/** Saves groups as a file. */
export function ExportDialog({ filter, selected, orderBy, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<ExportFormat>('ndjson');
  const [count, setCount] = useState(0);
  const showMessage = useMessage();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const saving = useMutation(async (client) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    setCount(0);
    const request = {
      filter: selected ? { providedIds: selected.map(({ providedId }) => providedId) } : filter,
      orderBy,
      signal,
    };
    const { groups, isComplete } = await readGroups(client, { ...request, onProgress: setCount });
    // Groups of two environments may share a provided id.
    const ids = selected && new Set(selected.map(({ id }) => id));
    const exported = ids ? groups.filter(({ id }) => ids.has(id)) : groups;
    const mediaType = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    download(`user-groups-${new Date().toISOString().slice(0, 10)}.${format}`, formatGroups(exported, format), mediaType);
    return { exported: exported.length, isComplete };
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await saving.run();
    if (!result) return;
    const limit = result.isComplete
      ? ''
      : `: only the first ${maxExported.toLocaleString('en')}, narrow the filter for the others`;
    showMessage(`Exported ${countOf(result.exported)}${limit}`);
    onClose();
  };

  return (
    <Dialog title={selected ? `Export ${countOf(selected.length)}` : 'Export groups'} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          {selected ? 'Saves the selected groups' : filter ? 'Saves every group that the filters match' : 'Saves every group'} as
          a file, with name, mapping, properties and environment. Tokens are not exported.
        </p>
        <SelectField
          label="Format"
          value={format}
          options={[
            { value: 'ndjson', label: 'NDJSON: one JSON object per line' },
            { value: 'csv', label: 'CSV: for spreadsheets' },
          ]}
          onChange={setFormat}
        />
        <FailureNotice title="The groups were not exported" failure={saving.failure} />
        <p role="status">{saving.isRunning && `Read ${countOf(count)} …`}</p>
        <DialogFooter onClose={onClose} isBusy={saving.isRunning}>
          Export
        </DialogFooter>
      </form>
    </Dialog>
  );
}

const countOf = (count: number): string => (count === 1 ? '1 group' : `${count.toLocaleString('en')} groups`);
