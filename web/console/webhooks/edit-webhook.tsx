import { type FormEvent, useState } from 'react';
import { changesOf } from '../graphql/changes.ts';
import { payloadOf } from '../graphql/client.ts';
import { CreateWebhook, type EventEnvironment, type EventType, eventTypes, UpdateWebhook } from '../graphql/generated.ts';
import { sentenceOf } from '../graphql/names.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { AllOrSome } from './all-or-some.tsx';
import { eventEnvironments, type WebhookRow } from './labels.tsx';

const typeOptions = (Object.keys(eventTypes) as EventType[]).map((value) => ({
  value,
  label: <code>{eventTypes[value].name}</code>,
  hint: sentenceOf(eventTypes[value].meaning),
}));

/** What a person enters. */
interface Values {
  readonly url: string;
  readonly description: string;
  readonly types: ReadonlySet<EventType> | null;
  readonly environments: ReadonlySet<EventEnvironment> | null;
}

/** The values as the API takes them. */
const inputOf = ({ description, types, environments, ...rest }: Partial<Values>) => ({
  ...rest,
  ...(description !== undefined && { description: description === '' ? null : description }),
  ...(types !== undefined && { types: types && [...types] }),
  ...(environments !== undefined && { environments: environments && [...environments] }),
});

interface EditWebhookProps {
  /** The webhook to change; without one, another is created. */
  readonly webhook?: WebhookRow;
  readonly onClose: () => void;
  /** @param secret of a new webhook. */
  readonly onSaved: (webhook: WebhookRow, secret?: string) => void;
}

/** Creates a webhook, or changes what it takes and where that is sent. */
export function EditWebhook({ webhook, onClose, onSaved }: EditWebhookProps) {
  const [initial] = useState<Values>(() => ({
    url: webhook?.url ?? '',
    description: webhook?.description ?? '',
    types: webhook?.types ? new Set(webhook.types) : null,
    environments: webhook?.environments ? new Set(webhook.environments) : null,
  }));
  const [values, setValues] = useState(initial);
  const { url, description, types, environments } = values;
  const set = (change: Partial<Values>) => setValues({ ...values, ...change });
  const changes = inputOf(changesOf(initial, values));
  const hasNothingToSave = webhook !== undefined && Object.keys(changes).length === 0;
  const saving = useMutation(async (client) => {
    if (!webhook) {
      const { data, requestId } = await client.send(CreateWebhook, { input: { url, ...changes } });
      return payloadOf(data.createWebhook, requestId);
    }
    const { data, requestId } = await client.send(UpdateWebhook, { input: { id: webhook.id, ...changes } });
    return { secret: undefined, ...payloadOf(data.updateWebhook, requestId) };
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const saved = await saving.run();
    if (saved) onSaved(saved.webhook, saved.secret);
  };
  const failure = saving.failure;
  return (
    <Dialog title={webhook ? `Edit webhook ${webhook.number}` : 'New webhook'} onClose={onClose} isBusy={saving.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={saving.reset}>
        <FailureNotice title={`The webhook was not ${webhook ? 'changed' : 'created'}`} failure={failure} />
        <DialogFields isLocked={saving.isLocked}>
          <TextField
            label="URL"
            hint="Where events are sent to by POST. It must begin with https, except in the networks that the gateway permits."
            placeholder="https://example.com/hooks/groups"
            inputMode="url"
            error={failure?.issueAt('url')}
            required
            value={url}
            onChange={(value) => set({ url: value })}
          />
          <TextField
            label="Description (optional)"
            hint="What the endpoint is for."
            error={failure?.issueAt('description')}
            value={description}
            onChange={(value) => set({ description: value })}
          />
          <AllOrSome
            legend="Types of events"
            allLabel="All, also those of later versions"
            options={typeOptions}
            value={types}
            error={failure?.issueAt('types')}
            onChange={(value) => set({ types: value })}
          />
          <AllOrSome
            legend="Environments"
            allLabel="All, Customer among them"
            options={eventEnvironments}
            value={environments}
            error={failure?.issueAt('environments')}
            onChange={(value) => set({ environments: value })}
          />
        </DialogFields>
        {webhook && (
          <p className="muted">
            What is pending is still sent while the webhook is enabled, also if it no longer takes such events.
          </p>
        )}
        <DialogFooter isDisabled={hasNothingToSave || types?.size === 0 || environments?.size === 0}>
          {webhook ? 'Save' : 'Create the webhook'}
        </DialogFooter>
      </form>
    </Dialog>
  );
}
