import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { SetGroupEnvironment } from '../graphql/generated.ts';
import { choiceOf, EnvironmentBadge, environments, tagOf } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';
import { ConfirmAgain } from './confirm-again.tsx';
import type { GroupSectionProps } from './group.tsx';
import { useConfirmed } from './use-confirmed.ts';

/** The environment of the group, which an API token with the scope admin can change. */
export function EnvironmentSection(props: GroupSectionProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title="Environment"
      description={
        <>
          The group is <EnvironmentBadge tag={props.group.environmentTag} />. Only API tokens of its environment have access to
          it.
        </>
      }
      actions={
        <Button className="small" onClick={() => setIsOpen(true)}>
          Move …
        </Button>
      }
    >
      {isOpen && <MoveDialog {...props} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function MoveDialog({ onClose, ...props }: GroupSectionProps & { readonly onClose: () => void }) {
  const showMessage = useMessage();
  const [environment, setEnvironment] = useState(choiceOf(props.group.environmentTag));
  const move = useConfirmed(props, async (client, { id, version }) => {
    const input = { by: { id }, expectedVersion: version, environmentTag: tagOf(environment) };
    const { data, requestId } = await client.send(SetGroupEnvironment, { input });
    const result = data.setUserGroupEnvironment;
    return result?.__typename === 'VersionMismatch' ? result : payloadOf(result, requestId);
  });
  const group = move.seen;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const moved = await move.run();
    if (!moved) return;
    props.onChanged(moved.userGroup);
    showMessage('Moved');
    onClose();
  };
  return (
    <Dialog title="Move to another environment" onClose={onClose} isBusy={move.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={move.reset}>
        <p>
          From the next request on only API tokens of the new environment have access to <strong>{group.name}</strong>. Its
          provided id, team id and tokens stay the same.
        </p>
        <ConfirmAgain title="The group was not moved" differences={move.differences} />
        <DialogFields isLocked={move.isLocked}>
          <SelectField label="New environment" value={environment} options={environments} onChange={setEnvironment} />
        </DialogFields>
        <FailureNotice title="The group was not moved" failure={move.failure} />
        <DialogFooter isDisabled={environment === choiceOf(group.environmentTag)}>Move the group</DialogFooter>
      </form>
    </Dialog>
  );
}
