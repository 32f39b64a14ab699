import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { eventTypeNames } from '../audit-log/events.ts';
import type { EventMember } from '../audit-log/rest.ts';
import { UsageError } from '../errors.ts';
import { mediaTypes } from '../http/media-types.ts';
import { paths } from '../http/paths.ts';
import { escapeControls } from '../terminal-text.ts';
import { deliveryBody } from '../webhooks/body.ts';
import { generateWebhookSecret } from '../webhooks/secrets.ts';
import { signedHeaders } from '../webhooks/send.ts';
import { repeatedChoice } from './options.ts';

const pauseMs = 1_000;
const feedTimeoutMs = 20_000;
const postTimeoutMs = 15_000;

interface ListenOptions {
  forwardTo: string;
  url: string;
  token?: string;
  type?: string[];
  after: string;
  secret?: string;
}

/** `listen`: follows the event feed of a gateway, and posts each event to a URL as a webhook would. */
export function define(command: Command): void {
  command
    .requiredOption('--forward-to <url>', 'where to post to, such as http://localhost:3000/hooks', parseUrl)
    .option('--url <url>', 'the gateway', parseUrl, 'http://127.0.0.1:4000')
    .addOption(
      new Option('--token <token>', 'an API token with the scope audit:read; other users cannot see the variable').env(
        'API_TOKEN',
      ),
    )
    .addOption(
      repeatedChoice(
        '--type <type>',
        'a type to forward, such as user_group.created; may be repeated (default: all)',
        eventTypeNames,
      ),
    )
    .option('--after <cursor>', 'the cursor to begin after', 'latest')
    .option('--secret <secret>', 'the whsec_… that signs (default: a new one, which is printed)', parseSecret)
    .addHelpText(
      'after',
      '\nFor the development of a receiver, without a public address. Nothing is sent again. Ends with Ctrl-C.',
    )
    .action(listen);
}

async function listen({ forwardTo, url, token, type, after, secret = generateWebhookSecret() }: ListenOptions): Promise<void> {
  if (!token) throw new UsageError('There is no API token: set the variable API_TOKEN, or give --token.');
  const feed = new URL(`${url.replace(/\/$/, '')}${paths.events}`);
  if (type) feed.searchParams.set('types', type.join());
  // Before it says that it is ready.
  let page = await readNextPage(feed, token, after, 0);
  process.stdout.write(
    `Forwarding the events of ${feed.origin} to ${escapeControls(forwardTo)}. They are signed with ${secret}\n`,
  );
  for (;;) {
    for (const event of page.events) process.stdout.write(`${escapeControls(await forward(event, forwardTo, secret))}\n`);
    page = await readNextPage(feed, token, page.cursor, 8);
  }
}

interface Page {
  readonly events: readonly EventMember[];
  readonly cursor: string;
}

/** The gateway may respond in a moment. */
class Temporary extends Error {}

/** Waits for events, and as long as the gateway fails for a time. */
async function readNextPage(feed: URL, token: string, after: string, waitSeconds: number): Promise<Page> {
  for (;;) {
    try {
      return await readPage(feed, token, after, waitSeconds);
    } catch (error) {
      if (!(error instanceof Temporary)) throw error;
      process.stderr.write(`${escapeControls(error.message)} Trying again.\n`);
      await sleep(pauseMs);
    }
  }
}

async function readPage(feed: URL, token: string, after: string, waitSeconds: number): Promise<Page> {
  const url = new URL(feed);
  url.searchParams.set('after', after);
  url.searchParams.set('wait_seconds', String(waitSeconds));
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: AbortSignal.timeout(feedTimeoutMs),
  }).catch((error: Error) => {
    throw new Temporary(`${feed.origin} does not respond: ${(error.cause as Error | undefined)?.message ?? error.message}.`);
  });
  const { code, detail, ...page } = (await response.json().catch(() => ({}))) as Page & { code?: string; detail?: string };
  if (response.ok && page.cursor) return page;
  const message = `${feed.origin} responded with ${code ?? response.status}: ${detail ?? 'not a page of the event feed.'}`;
  throw response.status === 429 || response.status >= 500 ? new Temporary(message) : new Error(message);
}

/** Posts an event. @returns a line about it. */
async function forward(event: EventMember, forwardTo: string, secret: string): Promise<string> {
  const { id, type, provided_id: providedId } = event;
  const body = deliveryBody({
    type,
    occurredAt: new Date(event.occurred_at),
    environment: event.environment,
    teamId: event.team_id,
    providedId,
    subjectApiTokenId: event.api_token_id,
    changes: event.changes,
  });
  const headers = { 'content-type': mediaTypes.json, ...signedHeaders({ id, body, secrets: [secret], sentAt: new Date() }) };
  const signal = AbortSignal.timeout(postTimeoutMs);
  const outcome = await fetch(forwardTo, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
    async (response) => {
      await response.body?.cancel();
      return String(response.status);
    },
    (error: Error) => `failed (${(error.cause as { code?: string } | undefined)?.code ?? error.message})`,
  );
  return [new Date().toISOString(), outcome, type, providedId, id].filter(Boolean).join('  ');
}

function parseUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('It must be an http or https URL.');
}

function parseSecret(text: string): string {
  if (/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be whsec_ and 24 to 64 bytes in Base64.');
}
