import { useRef, useState } from 'react';
import { tokenPrefixes } from '../../../src/token-prefixes.ts';
import { useSession } from '../app/session.tsx';
import { useMutation } from '../graphql/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';
import type { GroupSectionProps } from './group.tsx';
import { RotateDialog, readToken } from './rotate-dialog.tsx';

/** A token that a person sees. */
interface ShownToken {
  readonly token: string;
  /** The version of the group when the token was read. */
  readonly version: number;
  /** When the token before it expires, if this one has just replaced it; null if it has. */
  readonly rotation?: { readonly previousEnd: string | null };
}

/** The token of the group: read only when the person asks for it. */
export function TokenSection(props: GroupSectionProps) {
  const { group, onChanged } = props;
  const { can } = useSession();
  const [latest, setLatest] = useState<ShownToken>();
  const [isRotating, setIsRotating] = useState(false);
  /** How often the dialog of a rotation was opened: a token that is read before, and arrives later, may be the former one. */
  const rotations = useRef(0);
  // A group that has changed since may have another token.
  const shown = latest?.version === group.version ? latest : undefined;
  const reading = useMutation(async (client) => {
    const rotationsBefore = rotations.current;
    const token = await readToken(client, group.id);
    if (rotations.current === rotationsBefore) setLatest({ version: group.version, token });
  });
  return (
    <Section
      title="Token"
      description="Identifies the group when a dashboard is rendered. Anyone who has it sees what the group sees."
      actions={
        can('GROUPS_WRITE') && (
          <Button
            className="small"
            onClick={() => {
              // It may be replaced without a response that says so.
              rotations.current += 1;
              setLatest(undefined);
              setIsRotating(true);
            }}
          >
            Rotate …
          </Button>
        )
      }
    >
      <FailureNotice title="The token could not be read" failure={shown ? undefined : reading.failure} />
      <div className="secret">
        <code>{shown?.token ?? `${tokenPrefixes.userGroup}••••••••••••••••••••`}</code>
        {!shown ? (
          <Button className="small" isBusy={reading.isRunning} onClick={() => void reading.run()}>
            Show
          </Button>
        ) : (
          <>
            <CopyButton text={shown.token} label="Copy the token" isLabelShown />
            <Button className="small" onClick={() => setLatest(undefined)}>
              Hide
            </Button>
          </>
        )}
      </div>
      {!shown && latest?.rotation && (
        <p className="notice good" role="status">
          The token was rotated, and the group was changed since: “Show” reads the token that it has now.
        </p>
      )}
      {shown?.rotation && (
        <p className="notice good" role="status">
          This is a new token.{' '}
          {shown.rotation.previousEnd ? (
            <span>
              The previous one works until <Time value={shown.rotation.previousEnd} isExact />.
            </span>
          ) : (
            'The previous one no longer works.'
          )}
          {group.status === 'SUSPENDED' && ' While the group is suspended, none of its tokens works.'}
        </p>
      )}
      {isRotating && (
        <RotateDialog
          {...props}
          onClose={() => setIsRotating(false)}
          onRotated={({ previousTokenExpiresAt, userGroup: { token: rotated, ...changed } }) => {
            reading.reset(); // its failure is about the token of before
            setLatest({ version: changed.version, token: rotated, rotation: { previousEnd: previousTokenExpiresAt } });
            // Without the token, which is only kept while it is shown.
            onChanged(changed);
            setIsRotating(false);
          }}
        />
      )}
    </Section>
  );
}
