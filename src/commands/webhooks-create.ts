import { type EventType, eventTypeNames, everyEnvironment, isEventType } from '../audit-log/events.ts';
import { bindFeed } from '../audit-log/statements/feed.ts';
import { createDb } from '../db.ts';
import type { EventEnvironment } from '../generated/prisma/client.ts';
import { escapeJson } from '../terminal-text.ts';
import { createWebhook, type IssuedWebhook } from '../webhooks/webhooks.ts';
import { ownAuthor, withExistingDatabase } from './context.ts';
import { readOptions, UsageError } from './options.ts';
import { printSecret } from './print-secret.ts';
import type { WebhooksIo } from './webhooks.ts';
import { describeWebhook, webhookMembers, webhooksHelp } from './webhooks-text.ts';

const isEnvironment = (name: string): name is EventEnvironment => (everyEnvironment as readonly string[]).includes(name);

/**
 * `webhooks create`: creates a webhook and prints its secret.
 *
 * @throws UsageError that lists every invalid argument, before anything is opened.
 * @throws InvalidInput for a value that the settings do not permit.
 */
export async function createWebhookByOptions(args: readonly string[], io: WebhooksIo): Promise<number> {
  const kinds = { url: 'value', type: 'values', environment: 'values', description: 'value', json: 'flag' } as const;
  const { given, words, problems } = readOptions(args, kinds);
  const [url] = given.get('url') ?? [];
  const [description] = given.get('description') ?? [];
  const { types, environments } = { types: given.get('type'), environments: given.get('environment') };
  const oneOf = (option: string, names: readonly string[], isKnown: (name: string) => boolean, list: readonly string[] = []) =>
    list.flatMap((name) =>
      isKnown(name) ? [] : [`--${option} must be one of ${names.join(', ')}, not ${JSON.stringify(name)}.`],
    );
  const all = [
    ...words.map((word) => `Unexpected argument ${JSON.stringify(word)}.`),
    ...problems,
    ...(given.has('url') ? [] : ['--url is required: where events are sent to.']),
    ...oneOf('type', eventTypeNames, isEventType, types),
    ...oneOf('environment', everyEnvironment, isEnvironment, environments),
  ];
  if (all.length > 0 || url === undefined) {
    const lines = all.map((line) => `  ${line}\n`).join('');
    throw new UsageError(`Invalid arguments for webhooks create; no webhook was created.\n${lines}\n${webhooksHelp}`);
  }
  return withExistingDatabase(async ({ database, keys, config }) => {
    const webhookNetworks = config.webhooksAllowedNetworks ?? [];
    const context = { db: createDb(database), keys, feed: bindFeed(database), webhookNetworks };
    const request = { url, types: types as EventType[], environments: environments as EventEnvironment[], description };
    return printIssued(io, await createWebhook(context, request, ownAuthor()), given.has('json'));
  });
}

/** Prints a webhook with its secret. @returns the exit status. */
function printIssued(io: WebhooksIo, { secret, webhook }: IssuedWebhook, asJson: boolean): Promise<number> {
  const { id, url, types, environments, description } = webhookMembers(webhook) as Record<string, unknown>;
  const json = escapeJson(JSON.stringify({ id, secret, url, types, environments, description }));
  const text = `${describeWebhook(webhook)}\n\nThe secret that verifies its deliveries (shown only once):\n\n  ${secret}\n`;
  return printSecret(
    io,
    asJson ? json : text,
    (reason) =>
      `The secret of the webhook #${id} was not shown, because the output cannot be written (${reason}). Run ` +
      `\`webhooks delete ${id}\` and create another one, or replace its secret (rotateWebhookSecret over GraphQL).`,
  );
}
