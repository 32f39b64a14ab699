import { type FormEvent, useState } from 'react';
import { hrefOf, navigate } from '../app/router.tsx';
import { payloadOf } from '../graphql/client.ts';
import { DeleteGroup } from '../graphql/generated.ts';
import { EnvironmentBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';
import { ConfirmAgain } from './confirm-again.tsx';
import type { GroupSectionProps } from './group.tsx';
import { useConfirmed } from './use-confirmed.ts';

/** Deletes the group, after the person has typed its provided id. */
export function DeleteSection(props: GroupSectionProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title="Delete the group"
      tone="danger"
      description="Its tokens stop working with the next request, and its provided id can be used again. This cannot be undone."
      actions={
        <Button
          className="small"
          variant="danger"
          onClick={() => {
            props.reload(); // its tokens may have been looked up since, which the dialog says
            setIsOpen(true);
          }}
        >
          Delete …
        </Button>
      }
    >
      {isOpen && <DeleteDialog {...props} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function DeleteDialog({ onClose, ...props }: GroupSectionProps & { readonly onClose: () => void }) {
  const showMessage = useMessage();
  const [typed, setTyped] = useState('');
  const deletion = useConfirmed(props, async (client, { id, providedId, version }) => {
    const { data, requestId } = await client.send(DeleteGroup, { input: { by: { id }, expectedVersion: version } });
    const result = data.deleteUserGroup;
    if (result?.__typename === 'VersionMismatch') {
      setTyped('');
      return result;
    }
    const payload = payloadOf(result, requestId);
    showMessage(`Deleted ${providedId}`); // also to a person who has left the page
    return payload;
  });
  const group = deletion.seen;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await deletion.run()) navigate(hrefOf('groups'), { replace: true, discards: true });
  };
  return (
    <Dialog title={`Delete ${group.name}`} onClose={onClose} isBusy={deletion.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          <EnvironmentBadge tag={group.environmentTag} /> Dashboards that are embedded for this group no longer know who views
          them.
        </p>
        <p>
          {!props.isCurrent && 'It is not known when its tokens were last looked up.'}
          {props.isCurrent && !props.group.lastResolvedAt && 'Its tokens have never been looked up.'}
          {props.isCurrent && props.group.lastResolvedAt && (
            <>
              Its tokens were last looked up <Time value={props.group.lastResolvedAt} />.
            </>
          )}
        </p>
        <ConfirmAgain title="The group was not deleted" differences={deletion.differences} />
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
        <DialogFooter isDangerous isDisabled={typed !== group.providedId}>
          Delete the group
        </DialogFooter>
      </form>
    </Dialog>
  );
}
