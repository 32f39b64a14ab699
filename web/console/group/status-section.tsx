import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { payloadOf } from '../graphql/client.ts';
import { ResumeGroup, SuspendGroup } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';
import type { GroupSectionProps } from './group.tsx';

/** Suspends the group, or resumes it and says why it was suspended. */
export function StatusSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const isSuspended = group.status === 'SUSPENDED';
  return (
    <Section
      title={isSuspended ? 'Suspended' : 'Suspend the group'}
      tone="danger"
      description={
        isSuspended ? (
          <>
            Its tokens and embed tokens identify nothing.{' '}
            {group.suspendedReason !== null && <span className="below">Reason: {group.suspendedReason}</span>}
          </>
        ) : (
          'Its tokens and embed tokens identify nothing from the next request on, until it is resumed. Nothing is deleted.'
        )
      }
      actions={
        can('GROUPS_WRITE') && (
          <Button className="small" variant={isSuspended ? 'secondary' : 'danger'} onClick={() => setIsOpen(true)}>
            {isSuspended ? 'Resume …' : 'Suspend …'}
          </Button>
        )
      }
    >
      {isOpen && !isSuspended && <SuspendDialog {...props} onClose={() => setIsOpen(false)} />}
      {isOpen && isSuspended && <ResumeDialog {...props} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

type DialogProps = GroupSectionProps & { readonly onClose: () => void };

function SuspendDialog({ group, onChanged, onClose }: DialogProps) {
  const showMessage = useMessage();
  const [reason, setReason] = useState('');
  const suspension = useMutation(async (client) => {
    const input = { by: { id: group.id }, ...(reason && { reason }) };
    const { data, requestId } = await client.send(SuspendGroup, { input });
    return payloadOf(data.suspendUserGroup, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const suspended = await suspension.run();
    if (!suspended) return;
    onClose();
    onChanged(suspended.userGroup);
    showMessage('Suspended');
  };
  return (
    <Dialog title={`Suspend ${group.name}`} onClose={onClose} isBusy={suspension.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={suspension.reset}>
        <p>Dashboards that are embedded for this group no longer know who views them, until you resume it.</p>
        <TextField
          label="Reason (optional)"
          hint="Shown to everyone who can read the group, and in the audit log."
          error={suspension.failure?.issueAt('reason')}
          value={reason}
          onChange={setReason}
        />
        <FailureNotice title="The group was not suspended" failure={suspension.failure} />
        <DialogFooter isDangerous>Suspend the group</DialogFooter>
      </form>
    </Dialog>
  );
}

function ResumeDialog({ group, onChanged, onClose }: DialogProps) {
  const showMessage = useMessage();
  const resumption = useMutation(async (client) => {
    const { data, requestId } = await client.send(ResumeGroup, { input: { by: { id: group.id } } });
    return payloadOf(data.resumeUserGroup, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const resumed = await resumption.run();
    if (!resumed) return;
    onClose();
    onChanged(resumed.userGroup);
    showMessage('Resumed');
  };
  return (
    <Dialog title={`Resume ${group.name}`} onClose={onClose} isBusy={resumption.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>Its tokens, and its embed tokens that have not expired, identify it again.</p>
        <FailureNotice title="The group was not resumed" failure={resumption.failure} />
        <DialogFooter>Resume the group</DialogFooter>
      </form>
    </Dialog>
  );
}
