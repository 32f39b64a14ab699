import { type FormEvent, useRef, useState } from 'react';
import { type Client, payloadOf } from '../graphql/client.ts';
import { Failure } from '../graphql/failure.ts';
import { type GroupDetailFragment, GroupToken, RotateGroupToken } from '../graphql/generated.ts';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { type Overlap, overlaps } from '../ui/durations.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { ConfirmAgain } from './confirm-again.tsx';
import type { GroupSectionProps } from './group.tsx';
import { useConfirmed } from './use-confirmed.ts';

/** What a rotation returns. */
export interface Rotation {
  /** When the replaced token expires; null if it has. */
  readonly previousTokenExpiresAt: string | null;
  readonly userGroup: GroupDetailFragment & { readonly token: string };
}

interface RotateDialogProps extends GroupSectionProps {
  readonly onClose: () => void;
  readonly onRotated: (rotation: Rotation) => void;
}

/** The token of a group. @throws Failure also if the group was deleted or is out of reach. */
export async function readToken(client: Client, id: string): Promise<string> {
  const { data, requestId } = await client.send(GroupToken, { by: { id } });
  if (!data.userGroup)
    throw new Failure('NOT_FOUND', 'The group was deleted, or moved to an environment that your API token has no access to.', {
      requestId,
    });
  return data.userGroup.token;
}

const nothingRead = { version: 0, token: '' };

/** Asks how the token of a group is replaced, and replaces it. */
export function RotateDialog({ onClose, onRotated, ...props }: RotateDialogProps) {
  const [graceSeconds, setGraceSeconds] = useState<Overlap>('3600');
  const [endGracePeriods, setEndGracePeriods] = useState(false);
  /** The token of the version. Trying again rotates the same one: another would be a second change. */
  const read = useRef(nothingRead);
  const rotation = useConfirmed(props, async (client, { id, version }) => {
    if (read.current.version !== version) read.current = { version, token: await readToken(client, id) };
    const currentToken = read.current.token;
    const input = { currentToken, expectedVersion: version, graceSeconds: Number(graceSeconds), endGracePeriods };
    const { data, requestId } = await client.send(RotateGroupToken, { input });
    const result = data.rotateUserGroupToken;
    if (result?.__typename === 'NotFound') read.current = nothingRead; // another person has rotated it since
    return result?.__typename === 'VersionMismatch' ? result : payloadOf(result, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await rotation.run();
    if (result) onRotated(result);
  };
  return (
    <Dialog title="Rotate the token" onClose={onClose} isBusy={rotation.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          <strong>{rotation.seen.name}</strong> gets a new token. Dashboards that are still rendered with the current one stop
          working when it expires: give your embed backend time to fetch the new one.
        </p>
        <ConfirmAgain title="The token was not rotated" differences={rotation.differences} />
        <DialogFields isLocked={rotation.isLocked}>
          <SelectField
            label="How long does the current token still work?"
            value={graceSeconds}
            options={overlaps}
            onChange={setGraceSeconds}
          />
          <label className="check-label">
            <input type="checkbox" checked={endGracePeriods} onChange={(event) => setEndGracePeriods(event.target.checked)} />
            <span>
              Also end the grace periods of earlier tokens
              <span className="hint">If one of them has leaked. Does not concern the current token.</span>
            </span>
          </label>
        </DialogFields>
        <FailureNotice title="The token was not rotated" failure={rotation.failure} />
        <DialogFooter>Rotate the token</DialogFooter>
      </form>
    </Dialog>
  );
}
