import { CopyButton } from '../ui/copy-button.tsx';
import { WarningIcon } from '../ui/icons.tsx';
import { Time } from '../ui/time.tsx';
import { EventEnvironments, EventTypes, type WebhookRow } from './labels.tsx';

/** Says why nothing arrives, if that is so. */
export function WebhookNotice({ webhook: { status, disabledReason, failingSince } }: { readonly webhook: WebhookRow }) {
  if (status === 'DISABLED') {
    return (
      <div className="notice bad">
        <WarningIcon />
        <div className="notice-text">
          <strong>{disabledReason === null ? 'Disabled by an administrator' : 'Disabled'}</strong>
          <p>{disabledReason !== null && <bdi>{disabledReason}</bdi>} Nothing is sent until it is enabled again.</p>
        </div>
      </div>
    );
  }
  if (failingSince === null) return null;
  return (
    <div className="notice warn">
      <WarningIcon />
      <div className="notice-text">
        <strong>Deliveries fail</strong>
        <p>
          Every attempt has failed since <Time value={failingSince} isExact />. After three days the gateway disables the webhook.
        </p>
      </div>
    </div>
  );
}

/** Where a webhook sends what. */
export function WebhookFacts({ webhook }: { readonly webhook: WebhookRow }) {
  const { url, description, types, environments, createdAt, lastDeliveryAt, previousSecretEndsAt } = webhook;
  return (
    <dl className="facts">
      <div>
        <dt>URL</dt>
        <dd>
          <code className="url">{url}</code>
          <CopyButton text={url} label="Copy the URL" />
        </dd>
      </div>
      {description !== null && (
        <div>
          <dt>Description</dt>
          <dd>
            <bdi>{description}</bdi>
          </dd>
        </div>
      )}
      <div>
        <dt>Types of events</dt>
        <dd>
          <EventTypes value={types} />
        </dd>
      </div>
      <div>
        <dt>Environments</dt>
        <dd>
          <EventEnvironments value={environments} />
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time value={createdAt} />
        </dd>
      </div>
      <div>
        <dt>Last delivery</dt>
        <dd>{lastDeliveryAt ? <Time value={lastDeliveryAt} /> : <span className="muted">never</span>}</dd>
      </div>
      {previousSecretEndsAt !== null && (
        <div>
          <dt>Previous secret</dt>
          <dd title="Deliveries are also signed with the secret that the last rotation replaced.">
            also signs until <Time value={previousSecretEndsAt} isExact />
          </dd>
        </div>
      )}
    </dl>
  );
}
