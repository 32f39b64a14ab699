import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { SetGroupEnvironment } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { choiceOf, EnvironmentBadge, environments, tagOf } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';

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

function MoveDialog({ group, onChanged, onClose }: GroupSectionProps & { readonly onClose: () => void }) {
  const showMessage = useMessage();
  const [environment, setEnvironment] = useState(choiceOf(group.environmentTag));
  const move = useMutation(async (client) => {
    const input = { by: { id: group.id }, environmentTag: tagOf(environment) };
    const { data, requestId } = await client.send(SetGroupEnvironment, { input });
    return payloadOf(data.setUserGroupEnvironment, requestId).userGroup;
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const moved = await move.run();
    if (!moved) return;
    onChanged(moved);
    showMessage('Moved');
    onClose();
  };
  return (
    <Dialog title="Move to another environment" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)} onInput={move.reset}>
        <p>
          From the next request on only API tokens of the new environment have access to <strong>{group.name}</strong>. Its
          provided id, team id and tokens stay the same.
        </p>
        <SelectField label="New environment" value={environment} options={environments} onChange={setEnvironment} />
        <FailureNotice title="The group was not moved" failure={move.failure} />
        <DialogFooter onClose={onClose} isDisabled={environment === choiceOf(group.environmentTag)} isBusy={move.isRunning}>
          Move the group
        </DialogFooter>
      </form>
    </Dialog>
  );
}
