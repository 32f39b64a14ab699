import { type FormEvent, useState } from 'react';
import { hrefOf, Link, navigate } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import { payloadOf } from '../graphql/client.ts';
import { CreateGroup, type GetOrCreateUserGroupInput, textAttributes } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { titleOf } from '../group/text-attributes.ts';
import { EnvironmentBadge, type EnvironmentChoice, EnvironmentField, tagOf } from '../ui/badge.tsx';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';

interface NewGroupProps {
  /** The environment of the list; empty if it lists several. */
  readonly initialEnvironment: EnvironmentChoice | '';
  readonly onClose: () => void;
}

/** Creates a group, and goes to it. */
export function NewGroup({ initialEnvironment, onClose }: NewGroupProps) {
  const { caller, can } = useSession();
  const showMessage = useMessage();
  const [providedId, setProvidedId] = useState('');
  const [texts, setTexts] = useState<Omit<GetOrCreateUserGroupInput, 'providedId'>>({});
  const [environment, setEnvironment] = useState<EnvironmentChoice | ''>(initialEnvironment);
  const [existing, setExisting] = useState<{ id: string; providedId: string }>();

  const creation = useMutation(async (client) => {
    const input = { providedId, ...texts, ...(environment && { environmentTag: tagOf(environment) }) };
    const { data, requestId } = await client.send(CreateGroup, { input });
    return payloadOf(data.getOrCreateUserGroup, requestId);
  });
  const forgetResult = () => {
    setExisting(undefined);
    creation.reset();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    forgetResult();
    const result = await creation.run();
    if (!result) return;
    if (!result.created) return setExisting(result.userGroup);
    showMessage(`Created ${result.userGroup.providedId}`);
    navigate(hrefOf('group', { id: result.userGroup.id }), { discards: true });
  };

  return (
    <Dialog title="New group" onClose={onClose} isBusy={creation.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={forgetResult}>
        <FailureNotice title="The group was not created" failure={creation.failure} />
        {existing && (
          <div className="notice" role="alert">
            <p>
              A group with this provided id exists. Nothing was changed.{' '}
              <Link href={hrefOf('group', { id: existing.id })} discards>
                Open {existing.providedId}
              </Link>
            </p>
          </div>
        )}
        <DialogFields isLocked={creation.isLocked}>
          <TextField
            label="Provided id"
            hint={
              providedId === providedId.trim()
                ? 'Your own identifier for the group, unique within its environment. It cannot be changed later.'
                : 'It begins or ends with a space, which is a part of it and is not shown everywhere. It cannot be changed later.'
            }
            error={creation.failure?.issueAt('providedId')}
            required
            value={providedId}
            onChange={setProvidedId}
          />
          {textAttributes.map((attribute) => {
            const { name } = attribute;
            return (
              <TextField
                key={name}
                label={`${titleOf(attribute)} (optional)`}
                hint={name === 'name' && 'What people see. The provided id if empty.'}
                error={creation.failure?.issueAt(name)}
                value={texts[name] ?? ''}
                onChange={(text) => setTexts({ ...texts, [name]: text || undefined })}
              />
            );
          })}
          {can('ADMIN') ? (
            <EnvironmentField value={environment} onChange={setEnvironment} />
          ) : (
            <p>
              Environment: <EnvironmentBadge tag={caller.environmentTag} />
            </p>
          )}
        </DialogFields>
        <DialogFooter>Create the group</DialogFooter>
      </form>
    </Dialog>
  );
}
