import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { DeleteGroup, type GroupRowFragment, textAttributes } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { differencesOf } from '../group/merge.ts';
import { Mismatch } from '../group/mismatch.tsx';
import { EnvironmentBadge, environmentLabel } from '../ui/badge.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { WarningIcon } from '../ui/icons.tsx';
import { useMessage } from '../ui/messages.tsx';
import { useScrollIntoView } from '../ui/use-scroll-into-view.ts';

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
  /** What came of groups, by id. */
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, 'deleted' | 'not found'>>(new Map());
  /** Groups that were not deleted because they have changed, as they are stored, by id. */
  const [changed, setChanged] = useState<ReadonlyMap<string, GroupRowFragment>>(new Map());
  const left = groups.filter(({ id }) => !outcomes.has(id));
  const mismatch = useScrollIntoView(changed);
  const leftChanged = left.filter(({ id }) => changed.has(id));
  const missing = groups.filter(({ id }) => outcomes.get(id) === 'not found');
  const deletion = useMutation(async (client) => {
    const known = new Map(outcomes);
    try {
      for (const { id, version } of left) {
        const input = { by: { id }, expectedVersion: changed.get(id)?.version ?? version };
        const { data, requestId } = await client.send(DeleteGroup, { input });
        const result = data.deleteUserGroup;
        if (result?.__typename === 'VersionMismatch') {
          setTyped('');
          setChanged((before) => new Map(before).set(id, result.userGroup));
          continue;
        }
        // One that is not found must not keep the others from being deleted.
        const isMissing = result?.__typename === 'NotFound';
        if (!isMissing) payloadOf(result, requestId);
        known.set(id, isMissing ? 'not found' : 'deleted');
        setOutcomes(new Map(known));
      }
      return groups.every(({ id }) => known.get(id) === 'deleted');
    } finally {
      // Also to a person who has left the page.
      const count = countDeleted(known);
      if (count > countDeleted(outcomes)) showMessage(describeDeletion(count, groups.length));
    }
  });
  const close = () => {
    if (outcomes.size > 0 || deletion.failure) onDeleted();
    onClose();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await deletion.run())) return;
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
              <bdi>{group.name}</bdi> <code>{group.providedId}</code> <EnvironmentBadge tag={group.environmentTag} />
              <span className="muted"> {outcomes.get(group.id) ?? (changed.has(group.id) && 'changed')}</span>
            </li>
          ))}
        </ul>
        <FailureNotice title={`${left.length} of ${groups.length} groups were not deleted`} failure={deletion.failure} />
        <div role="alert">
          {missing.length > 0 && (
            <div className="notice warn">
              <WarningIcon />
              <div className="notice-text">
                <strong>{`${missing.length} of ${groups.length} groups were not found`}</strong>
                <p>Someone else has deleted them, or moved them to another environment, where their tokens still work.</p>
              </div>
            </div>
          )}
        </div>
        {leftChanged.length > 0 && (
          <Mismatch
            ref={mismatch}
            title={`${leftChanged.length} of ${groups.length} groups were not deleted`}
            differences={leftChanged.flatMap((group) => differencesOf(visible(group), visible(changed.get(group.id) ?? group)))}
            left="Shown before"
          >
            They were changed since the list was loaded: in what is shown here, or in their properties, mapping, token or reason
            of suspension. Check them, then confirm again.
          </Mismatch>
        )}
        <TextField label={`Type ${expected} to confirm`} inputMode="numeric" value={typed} onChange={setTyped} />
        <DialogFooter
          closeLabel={outcomes.size > 0 ? 'Close' : 'Cancel'}
          isDangerous
          isDisabled={left.length === 0 || typed.trim() !== expected}
        >
          Delete
        </DialogFooter>
      </form>
    </Dialog>
  );
}

const countDeleted = (outcomes: ReadonlyMap<string, string>): number =>
  [...outcomes.values()].filter((outcome) => outcome === 'deleted').length;

function describeDeletion(count: number, all: number): string {
  if (count < all) return `Deleted ${count} of ${all} groups`;
  return all === 1 ? 'Deleted 1 group' : `Deleted ${all} groups`;
}

/** What the list shows of a group. */
const visible = (group: GroupRowFragment) => ({
  [group.providedId]: {
    ...Object.fromEntries(textAttributes.map(({ name }) => [name, group[name] ?? undefined])),
    environment: environmentLabel(group.environmentTag),
    status: group.status === 'SUSPENDED' ? 'Suspended' : 'Active',
  },
});
