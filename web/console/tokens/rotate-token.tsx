import { type FormEvent, type ReactNode, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { payloadOf } from '../graphql/client.ts';
import { RotateApiToken } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { type Overlap, overlaps } from '../ui/durations.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';
import type { ApiTokenRow } from './token-table.tsx';
import type { ShownTokenSecret } from './tokens.tsx';

interface RotateTokenProps {
  readonly apiToken: ApiTokenRow;
  readonly onClose: () => void;
  readonly onRotated: (shown: ShownTokenSecret) => void;
}

/** Asks how the secret of an API token is replaced, and replaces it. */
export function RotateToken({ apiToken, onClose, onRotated }: RotateTokenProps) {
  const { caller } = useSession();
  const isOwn = apiToken.id === caller.id;
  const [overlap, setOverlap] = useState<Overlap>('3600');
  const rotation = useMutation(async (client) => {
    const input = { id: apiToken.id, overlapSeconds: Number(overlap) };
    const { data, requestId } = await client.send(RotateApiToken, { input });
    return payloadOf(data.rotateApiToken, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await rotation.run();
    if (!result) return;
    onRotated({ title: 'The secret was replaced', ...result, note: noteOf(overlap, result.apiToken) });
  };
  return (
    <Dialog title={`Rotate ${apiToken.name}`} onClose={onClose} isBusy={rotation.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>It gets a new secret. Its number {apiToken.number}, its name, environment and scopes stay the same.</p>
        {isOwn && (
          <p className="notice">
            This is the API token that you are signed in with: sign in again with the new secret afterwards. To end the current
            one at once, sign in with another API token, or run the command <code>token rotate</code>.
          </p>
        )}
        <DialogFields isLocked={rotation.isLocked}>
          <SelectField
            label="How long does the current secret still work?"
            value={overlap}
            // A response that is lost is asked for again, with the secret that the person is signed in with.
            options={isOwn ? overlaps.filter(({ value }) => value !== '0') : overlaps}
            onChange={setOverlap}
            hint={overlap === '0' && 'Secrets that were replaced earlier stop working, too.'}
          />
        </DialogFields>
        <FailureNotice
          title="The secret was not replaced"
          failure={rotation.failure}
          {...(isOwn && { unknownRemedy: ownRemedy })}
        />
        <DialogFooter>Replace the secret</DialogFooter>
      </form>
    </Dialog>
  );
}

/** Asking for a lost response needs a secret that works. */
const ownRemedy =
  'Try again while the current secret works: that sends the same change, which is made only once, and shows the new secret. After ' +
  'that, an administrator has to rotate the API token again, with another one or the command token rotate.';

/** What becomes of the replaced secret. Without the time when that is: the clock of the browser may be wrong. */
function noteOf(overlap: Overlap, { enabled, expiresAt }: ApiTokenRow): ReactNode {
  if (!enabled) return 'The API token is disabled: neither this secret nor the previous one works until it is enabled.';
  if (overlap === '0') return 'The previous secret no longer works, nor any that was replaced earlier.';
  const duration = overlaps.find(({ value }) => value === overlap)?.label.toLowerCase();
  if (expiresAt === null) return `The previous secret works ${duration}.`;
  return (
    <>
      The previous secret works {duration}, but not after the API token expires, <Time value={expiresAt} isExact />.
    </>
  );
}
