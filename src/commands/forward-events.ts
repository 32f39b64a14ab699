import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventTypeNames } from '../audit-log/events.ts';
import type { EventMember } from '../audit-log/rest.ts';
import { mediaTypes } from '../http/media-types.ts';
import { paths } from '../http/paths.ts';
import { escapeControls } from '../terminal-text.ts';
import { deliveryBody } from '../webhooks/body.ts';
import { generateWebhookSecret } from '../webhooks/secrets.ts';
import { signedHeaders } from '../webhooks/send.ts';
import { asksForHelp, assertValid, type OutputStreams, readOnlyOptions, requireKnown } from './options.ts';

/** What `listen --help` prints. */
const help = `Usage:
  user-group-gateway listen --forward-to URL [--url URL] [--token TOKEN] [--type T]... [--after=CURSOR] [--secret SECRET]

Follows the event feed of a gateway, and posts each event to a URL as a webhook would: for the development of a receiver, without
a public address. Nothing is sent again. Ends with Ctrl-C.
  --forward-to  where to post to, such as http://localhost:3000/hooks
  --url         the gateway (default: http://127.0.0.1:4000)
  --token       an API token with the scope audit:read (default: the variable API_TOKEN, which other users of the machine cannot see)
  --type        a type to forward, such as user_group.created; may be repeated (default: all)
  --after       the cursor to begin after (default: latest, what happens from now on)
  --secret      the whsec_… that signs (default: a new one, which is printed)
`;

/** Where the command reads and writes. */
type ForwardIo = OutputStreams & { readonly env: Readonly<Record<string, string | undefined>> };

/** The pause after a request that failed for a time, and how long requests may take, in milliseconds. */
const pauseMs = 1_000;
const feedTimeoutMs = 20_000;
const postTimeoutMs = 15_000;

/** What the arguments ask for. */
interface Forwarding {
  readonly forwardTo: string;
  readonly feed: URL;
  readonly token: string;
  readonly after: string;
  readonly secret: string;
}

/**
 * `listen`: forwards the events of a gateway to a URL, until a signal ends it or the gateway refuses.
 *
 * @throws UsageError that lists every invalid argument.
 * @throws Error when the gateway refuses, with its code and message.
 */
export async function listen(args: readonly string[], io: ForwardIo): Promise<number> {
  if (asksForHelp(args)) {
    io.stdout.write(help);
    return 0;
  }
  const forwarding = readForwarding(args, io.env);
  const { feed, forwardTo, secret } = forwarding;
  // Before it says that it is ready.
  let page = await readNextPage(forwarding, forwarding.after, 0, io.stderr);
  io.stdout.write(`Forwarding the events of ${feed.origin} to ${escapeControls(forwardTo)}. They are signed with ${secret}\n`);
  for (;;) {
    for (const event of page.events) io.stdout.write(`${escapeControls(await forward(forwarding, event))}\n`);
    page = await readNextPage(forwarding, page.cursor, 8, io.stderr);
  }
}

/** Waits for events, and as long as the gateway fails for a time. */
async function readNextPage(forwarding: Forwarding, after: string, waitSeconds: number, stderr: Writable): Promise<Page> {
  for (;;) {
    try {
      return await readPage(forwarding, after, waitSeconds);
    } catch (error) {
      if (!(error instanceof Temporary)) throw error;
      stderr.write(`${escapeControls(error.message)} Trying again.\n`);
      await sleep(pauseMs);
    }
  }
}

interface Page {
  readonly events: readonly EventMember[];
  readonly cursor: string;
}

/** The gateway may respond in a moment. */
class Temporary extends Error {}

async function readPage({ feed, token }: Forwarding, after: string, waitSeconds: number): Promise<Page> {
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
  const text = await response.text().catch(() => '');
  const { code, detail, ...page } = parse(text) as Page & { readonly code?: string; readonly detail?: string };
  if (response.ok && page.cursor) return page;
  const message = `${feed.origin} responded with ${code ?? response.status}: ${detail ?? 'not a page of the event feed.'}`;
  throw response.status === 429 || response.status >= 500 ? new Temporary(message) : new Error(message);
}

function parse(text: string): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Posts an event. @returns a line about it. */
async function forward({ forwardTo, secret }: Forwarding, event: EventMember): Promise<string> {
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
  const outcome = await fetch(forwardTo, {
    method: 'POST',
    headers: {
      'content-type': mediaTypes.json,
      ...signedHeaders({ id, body, secrets: [secret], sentAt: new Date() }),
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(postTimeoutMs),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return String(response.status);
    },
    (error: Error) => `failed (${(error.cause as { code?: string } | undefined)?.code ?? error.message})`,
  );
  return [new Date().toISOString(), outcome, type, providedId, id].filter(Boolean).join('  ');
}

function readForwarding(args: readonly string[], env: ForwardIo['env']): Forwarding {
  const kinds = { 'forward-to': 'value', url: 'value', token: 'value', type: 'values', after: 'value', secret: 'value' } as const;
  const options = readOnlyOptions(args, kinds);
  const { given, problems } = options;
  const only = (name: keyof typeof kinds, otherwise: string): string => given.get(name)?.[0] ?? otherwise;
  const forwardTo = only('forward-to', '');
  const url = only('url', 'http://127.0.0.1:4000');
  const token = only('token', env['API_TOKEN'] ?? '');
  const after = only('after', 'latest');
  const secret = only('secret', generateWebhookSecret());
  const types = given.get('type') ?? [];
  const isUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);
  if (!isUrl(forwardTo)) problems.push('--forward-to must be an http or https URL.');
  if (!isUrl(url)) problems.push('--url must be the http or https URL of a gateway.');
  if (!/^[\x21-\x7e]+$/.test(token)) problems.push('There is no API token: set the variable API_TOKEN, or give --token.');
  requireKnown(options, 'type', eventTypeNames);
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)) problems.push('--secret must be whsec_ and 24 to 64 bytes in Base64.');
  assertValid(problems, 'listen; nothing was forwarded', help);
  const feed = new URL(`${url.replace(/\/$/, '')}${paths.events}`);
  if (types.length > 0) feed.searchParams.set('types', types.join());
  return { forwardTo, feed, token, after, secret };
}
