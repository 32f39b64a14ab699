import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { payloadOf } from '../graphql/client.ts';
import { ResumeGroup, SuspendGroup } from '../graphql/generated.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Section } from '../ui/section.tsx';
import { ConfirmAgain } from './confirm-again.tsx';
import type { GroupSectionProps } from './group.tsx';
import { useConfirmed } from './use-confirmed.ts';

/** Suspends the group, or resumes it and says why it was suspended. */
export function StatusSection(props: GroupSectionProps) {
  const { group } = props;
  const { can } = useSession();
  // Not by the status of the latest group: it may change under the open dialog, which then asks again.
  const [dialog, setDialog] = useState<'suspend' | 'resume'>();
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
          <Button
            className="small"
            variant={isSuspended ? 'secondary' : 'danger'}
            onClick={() => setDialog(isSuspended ? 'resume' : 'suspend')}
          >
            {isSuspended ? 'Resume …' : 'Suspend …'}
          </Button>
        )
      }
    >
      {dialog === 'suspend' && <SuspendDialog {...props} onClose={() => setDialog(undefined)} />}
      {dialog === 'resume' && <ResumeDialog {...props} onClose={() => setDialog(undefined)} />}
    </Section>
  );
}

type DialogProps = GroupSectionProps & { readonly onClose: () => void };

function SuspendDialog({ onClose, ...props }: DialogProps) {
  const showMessage = useMessage();
  const [reason, setReason] = useState('');
  const suspension = useConfirmed(props, async (client, { id, version, suspendedReason }) => {
    // Somebody else may have suspended it meanwhile: without another reason, theirs stays.
    const input = { by: { id }, expectedVersion: version, reason: reason || suspendedReason };
    const { data, requestId } = await client.send(SuspendGroup, { input });
    const result = data.suspendUserGroup;
    return result?.__typename === 'VersionMismatch' ? result : payloadOf(result, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const suspended = await suspension.run();
    if (!suspended) return;
    onClose();
    props.onChanged(suspended.userGroup);
    showMessage('Suspended');
  };
  return (
    <Dialog title={`Suspend ${suspension.seen.name}`} onClose={onClose} isBusy={suspension.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={suspension.reset}>
        <p>Dashboards that are embedded for this group no longer know who views them, until you resume it.</p>
        <ConfirmAgain title="The group was not suspended" differences={suspension.differences} />
        <DialogFields isLocked={suspension.isLocked}>
          <TextField
            label="Reason (optional)"
            hint="Shown to everyone who can read the group, and in the audit log."
            error={suspension.failure?.issueAt('reason')}
            value={reason}
            onChange={setReason}
          />
        </DialogFields>
        <FailureNotice title="The group was not suspended" failure={suspension.failure} />
        <DialogFooter isDangerous>Suspend the group</DialogFooter>
      </form>
    </Dialog>
  );
}

function ResumeDialog({ onClose, ...props }: DialogProps) {
  const showMessage = useMessage();
  const resumption = useConfirmed(props, async (client, { id, version }) => {
    const { data, requestId } = await client.send(ResumeGroup, { input: { by: { id }, expectedVersion: version } });
    const result = data.resumeUserGroup;
    return result?.__typename === 'VersionMismatch' ? result : payloadOf(result, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const resumed = await resumption.run();
    if (!resumed) return;
    onClose();
    props.onChanged(resumed.userGroup);
    showMessage('Resumed');
  };
  return (
    <Dialog title={`Resume ${resumption.seen.name}`} onClose={onClose} isBusy={resumption.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>Its tokens, and its embed tokens that have not expired, identify it again.</p>
        <ConfirmAgain title="The group was not resumed" differences={resumption.differences} />
        <FailureNotice title="The group was not resumed" failure={resumption.failure} />
        <DialogFooter>Resume the group</DialogFooter>
      </form>
    </Dialog>
  );
}
