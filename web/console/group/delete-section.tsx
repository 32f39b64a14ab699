import { type FormEvent, useState } from 'react';
import { hrefOf, navigate } from '../app/router.tsx';
import { payloadOf } from '../graphql/client.ts';
import { DeleteGroup, type GroupDetailFragment } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { EnvironmentBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';

/** Deletes the group, after the person has typed its provided id. */
export function DeleteSection({ group }: { readonly group: GroupDetailFragment }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title="Delete the group"
      tone="danger"
      description="Its tokens stop working with the next request, and its provided id can be used again. This cannot be undone."
      actions={
        <Button className="small" variant="danger" onClick={() => setIsOpen(true)}>
          Delete …
        </Button>
      }
    >
      {isOpen && <DeleteDialog group={group} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function DeleteDialog({ group, onClose }: { readonly group: GroupDetailFragment; readonly onClose: () => void }) {
  const showMessage = useMessage();
  const [typed, setTyped] = useState('');
  const deletion = useMutation(async (client) => {
    const { data, requestId } = await client.send(DeleteGroup, { by: { id: group.id } });
    return payloadOf(data.deleteUserGroup, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await deletion.run())) return;
    showMessage(`Deleted ${group.providedId}`);
    navigate(hrefOf('groups'), { replace: true, discards: true });
  };
  return (
    <Dialog title={`Delete ${group.name}`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          <EnvironmentBadge tag={group.environmentTag} /> Dashboards that are embedded for this group no longer know who views
          them.
        </p>
        <TextField
          label={
            <>
              Type <code>{group.providedId}</code> to confirm
            </>
          }
          value={typed}
          onChange={setTyped}
        />
        <FailureNotice title="The group was not deleted" failure={deletion.failure} />
        <DialogFooter onClose={onClose} isDangerous isDisabled={typed !== group.providedId} isBusy={deletion.isRunning}>
          Delete the group
        </DialogFooter>
      </form>
    </Dialog>
  );
}
