import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { DeleteGroup, type GroupRowFragment } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { differencesOf } from '../group/merge.ts';
import { Mismatch } from '../group/mismatch.tsx';
import { EnvironmentBadge, environmentLabel } from '../ui/badge.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';

interface DeleteSeveralProps {
  readonly groups: readonly GroupRowFragment[];
  readonly onClose: () => void;
  /** Called after the deletion, also of a part of the groups. */
  readonly onDeleted: () => void;
}

/** Deletes several groups, after the person has typed how many. */
export function DeleteSeveral({ groups, onClose, onDeleted }: DeleteSeveralProps) {
  const showMessage = useMessage();
  const [typed, setTyped] = useState('');
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  /** Groups that were not deleted because they have changed, as they are stored, by id. */
  const [changed, setChanged] = useState<ReadonlyMap<string, GroupRowFragment>>(new Map());
  const left = groups.filter(({ id }) => !deleted.has(id));
  const deletion = useMutation(async (client) => {
    let isComplete = true;
    for (const { id, version } of left) {
      const input = { by: { id }, expectedVersion: changed.get(id)?.version ?? version };
      const { data, requestId } = await client.send(DeleteGroup, { input });
      const result = data.deleteUserGroup;
      if (result?.__typename === 'VersionMismatch') {
        isComplete = false;
        setTyped('');
        setChanged((before) => new Map(before).set(id, result.userGroup));
        continue;
      }
      // Someone else may have deleted it already, which must not keep the others from being deleted.
      if (result?.__typename !== 'NotFound') payloadOf(result, requestId);
      setDeleted((before) => new Set(before).add(id));
    }
    return isComplete;
  });
  const close = () => {
    if (deleted.size > 0) onDeleted();
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await deletion.run())) return;
    showMessage(groups.length === 1 ? 'Deleted 1 group' : `Deleted ${groups.length} groups`);
    onDeleted();
    onClose();
  };
  const expected = String(groups.length);
  return (
    <Dialog
      title={groups.length === 1 ? 'Delete 1 group' : `Delete ${groups.length} groups`}
      onClose={close}
      isBusy={deletion.isRunning}
    >
      <form onSubmit={(event) => void submit(event)}>
        <p>
          Their tokens stop working with the next request: dashboards that are embedded with them no longer know who views them.
          This cannot be undone.
        </p>
        <ul className="delete-list">
          {groups.map((group) => (
            <li key={group.id}>
              {group.name} <code>{group.providedId}</code> <EnvironmentBadge tag={group.environmentTag} />
              {deleted.has(group.id) && <span className="muted"> deleted</span>}
            </li>
          ))}
        </ul>
        <FailureNotice title={`${left.length} of ${groups.length} groups were not deleted`} failure={deletion.failure} />
        {left.some(({ id }) => changed.has(id)) && (
          <Mismatch
            title={`${left.length} of ${groups.length} groups were not deleted`}
            differences={left.flatMap((group) => differencesOf(visible(group), visible(changed.get(group.id) ?? group)))}
            left="Shown before"
          >
            They were changed since the list was loaded. Check them, then confirm again.
          </Mismatch>
        )}
        <TextField label={`Type ${expected} to confirm`} inputMode="numeric" value={typed} onChange={setTyped} />
        <DialogFooter closeLabel={deleted.size > 0 ? 'Close' : 'Cancel'} isDangerous isDisabled={typed.trim() !== expected}>
          Delete
        </DialogFooter>
      </form>
    </Dialog>
  );
}

/** What the list shows of a group. */
const visible = ({ providedId, name, environmentTag }: GroupRowFragment) => ({
  [providedId]: { name, environment: environmentLabel(environmentTag) },
});
