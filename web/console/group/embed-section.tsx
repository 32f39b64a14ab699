import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { CreateEmbedToken } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';
import { decodeClaims } from './claims.ts';
import type { GroupSectionProps } from './group.tsx';

const lifetimes = [
  { value: '60', label: '1 minute' },
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
] as const;

type Lifetime = (typeof lifetimes)[number]['value'];

/** Creates an embed token to try, and shows what is in it. */
export function EmbedSection({ group }: Pick<GroupSectionProps, 'group'>) {
  const [audience, setAudience] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('900');
  const [includeProperties, setIncludeProperties] = useState(false);
  const [created, setCreated] = useState<{ readonly token: string; readonly expiresAt: string }>();
  const creation = useMutation(async (client) => {
    const input = { by: { id: group.id }, expiresInSeconds: Number(lifetime), includeProperties, ...(audience && { audience }) };
    const { data, requestId } = await client.send(CreateEmbedToken, { input });
    return payloadOf(data.createEmbedToken, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setCreated(await creation.run());
  };
  return (
    <Section
      title="Embed token"
      description="A signed token (JWT) that identifies the group for a short time, to try an integration. Who only checks its signature accepts it until it expires."
    >
      <form onSubmit={(event) => void submit(event)} onInput={creation.reset}>
        <div className="field-row">
          <TextField
            label="Audience (optional)"
            error={creation.failure?.issueAt('audience')}
            value={audience}
            onChange={setAudience}
          />
          <SelectField label="Valid for" value={lifetime} options={lifetimes} onChange={setLifetime} />
        </div>
        <label className="check-label">
          <input type="checkbox" checked={includeProperties} onChange={(event) => setIncludeProperties(event.target.checked)} />
          <span>
            Include the properties
            <span className="hint">Everyone who has the token can read them.</span>
          </span>
        </label>
        <FailureNotice title="The embed token was not created" failure={creation.failure} />
        <Button type="submit" isBusy={creation.isRunning}>
          Create an embed token
        </Button>
      </form>
      {created && (
        <div className="embed-result" role="status">
          <p>
            Valid until <Time value={created.expiresAt} isExact />.
          </p>
          <div className="secret">
            <code>{created.token}</code>
            <CopyButton text={created.token} label="Copy the embed token" isLabelShown />
          </div>
          <pre>
            <code>{decodeClaims(created.token)}</code>
          </pre>
        </div>
      )}
    </Section>
  );
}
