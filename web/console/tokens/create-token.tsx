import { type FormEvent, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { CreateApiToken, type CreateApiTokenInput, type Scope, scopes } from '../graphql/generated.ts';
import { sentenceOf } from '../graphql/names.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { type EnvironmentChoice, EnvironmentField, tagOf } from '../ui/badge.tsx';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { RateLimitField, rateLimitOf } from './rate-limit-field.tsx';
import type { ShownTokenSecret } from './tokens.tsx';

const lifetimes = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'never', label: 'Never' },
  { value: 'day', label: 'On a certain day …' },
] as const;

type Lifetime = (typeof lifetimes)[number]['value'];

interface CreateTokenProps {
  readonly onClose: () => void;
  readonly onCreated: (shown: ShownTokenSecret) => void;
}

/** Creates an API token. */
export function CreateToken({ onClose, onCreated }: CreateTokenProps) {
  const [name, setName] = useState('');
  const [environment, setEnvironment] = useState<EnvironmentChoice | ''>('');
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set());
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  const [day, setDay] = useState('');
  const [rateLimit, setRateLimit] = useState('');
  const creation = useMutation(async (client) => {
    const environmentTag = environment ? tagOf(environment) : null;
    const expiry = expiryOf(lifetime, day);
    const input = { name, environmentTag, scopes: [...chosen], ...expiry, rateLimit: rateLimitOf(rateLimit) };
    const { data, requestId } = await client.send(CreateApiToken, { input });
    return payloadOf(data.createApiToken, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await creation.run();
    if (result) onCreated({ secret: result.secret, apiToken: result.apiToken, title: 'The API token was created' });
  };
  const toggle = (scope: Scope) => {
    const next = new Set(chosen);
    if (!next.delete(scope)) next.add(scope);
    setChosen(next);
  };
  const failure = creation.failure;
  return (
    <Dialog title="New API token" onClose={onClose} isBusy={creation.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={creation.reset}>
        <FailureNotice title="The API token was not created" failure={failure} />
        <DialogFields isLocked={creation.isLocked}>
          <TextField
            label="Name"
            hint="What it is for, such as the service that will use it."
            error={failure?.issueAt('name')}
            required
            value={name}
            onChange={setName}
          />
          <EnvironmentField
            hint="The groups that it has access to, and those that it creates."
            value={environment}
            onChange={setEnvironment}
          />
          <fieldset className="scope-choices" aria-invalid={failure?.issueAt('scopes') ? true : undefined}>
            <legend>Scopes</legend>
            {(Object.keys(scopes) as Scope[]).map((scope) => (
              <label key={scope} className="check-label">
                <input type="checkbox" checked={chosen.has(scope)} onChange={() => toggle(scope)} />
                <span>
                  <code>{scopes[scope].name}</code>
                  <span className="hint">{sentenceOf(scopes[scope].meaning)}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <SelectField
            label="Expires"
            error={failure?.issueAt('expiresAt') ?? failure?.issueAt('expiresInSeconds')}
            value={lifetime}
            options={lifetimes}
            onChange={setLifetime}
          />
          {lifetime === 'day' && (
            <TextField
              label="Day"
              hint="It expires when this day begins, in your time zone."
              type="date"
              required
              max="9999-12-31"
              value={day}
              onChange={setDay}
            />
          )}
          <RateLimitField error={failure?.issueAt('rateLimit')} value={rateLimit} onChange={setRateLimit} />
        </DialogFields>
        <DialogFooter isDisabled={chosen.size === 0}>Create the API token</DialogFooter>
      </form>
    </Dialog>
  );
}

/** A period is one of the database's clock: those of the browser and of the gateway may be wrong. */
function expiryOf(lifetime: Lifetime, day: string): Pick<CreateApiTokenInput, 'expiresAt' | 'expiresInSeconds'> {
  if (lifetime === 'never') return {};
  if (lifetime === 'day') return { expiresAt: new Date(`${day}T00:00`).toISOString() };
  return { expiresInSeconds: Number(lifetime) * 86_400 };
}
