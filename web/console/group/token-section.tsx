import { useState } from 'react';
import { useSession } from '../app/session.tsx';
import { useMutation } from '../graphql/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';
import type { GroupSectionProps } from './group.tsx';
import { RotateDialog, readToken } from './rotate-dialog.tsx';

/** The token of the group: read only when the person asks for it. */
export function TokenSection({ group, onChanged }: GroupSectionProps) {
  const { can } = useSession();
  const [token, setToken] = useState<string>();
  const [isRotating, setIsRotating] = useState(false);
  const [rotation, setRotation] = useState<{ readonly previousEnd: string | null }>();
  const reading = useMutation(async (client) => {
    setToken(await readToken(client, group.id));
  });
  return (
    <Section
      title="Token"
      description="Identifies the group when a dashboard is rendered. Anyone who has it sees what the group sees."
      actions={
        can('groups:write') && (
          <Button className="small" onClick={() => setIsRotating(true)}>
            Rotate …
          </Button>
        )
      }
    >
      <FailureNotice title="The token could not be read" failure={reading.failure} />
      <div className="secret">
        <code>{token ?? 'ugt_••••••••••••••••••••'}</code>
        {token === undefined ? (
          <Button className="small" isBusy={reading.isRunning} onClick={() => void reading.run()}>
            Show
          </Button>
        ) : (
          <>
            <CopyButton text={token} label="Copy the token" isLabelShown />
            <Button className="small" onClick={() => setToken(undefined)}>
              Hide
            </Button>
          </>
        )}
      </div>
      {rotation && (
        <p className="notice good" role="status">
          This is a new token.{' '}
          {rotation.previousEnd ? (
            <span>
              The previous one works until <Time value={rotation.previousEnd} isExact />.
            </span>
          ) : (
            'The previous one no longer works.'
          )}
        </p>
      )}
      {isRotating && (
        <RotateDialog
          group={group}
          onChanged={onChanged}
          onClose={() => setIsRotating(false)}
          onRotated={({ previousTokenExpiresAt, userGroup: { token: rotated, ...changed } }) => {
            setToken(rotated);
            setRotation({ previousEnd: previousTokenExpiresAt });
            // Without the token, which is only kept while it is shown.
            onChanged(changed);
            setIsRotating(false);
          }}
        />
      )}
    </Section>
  );
}
