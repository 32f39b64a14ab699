import { checkOverlap } from '../api-tokens/api-tokens.ts';
import { type Context, inTransaction } from '../app.ts';
import type { EventType } from '../audit-log/events.ts';
import { assignPositions } from '../audit-log/feed.ts';
import { readClock } from '../database/client.ts';
import { InvalidInput, type Issue, NotFound } from '../errors.ts';
import type { EventEnvironment, Prisma, Webhook } from '../generated/prisma/client.ts';
import { newTextIssues, nullIssues } from '../input.ts';
import { checkAddress, literalAddress, RefusedDestination } from './destination.ts';
import { decryptWebhookSecret, encryptWebhookSecret, generateWebhookSecret } from './send.ts';

/** The limits of webhooks. */
export const webhookLimits = {
  /** The webhooks of an installation: each may take every event. */
  maxWebhooks: 100,
  /** The characters of a URL. */
  maxWebhookUrlLength: 2_048,
  /** The events that are sent again by their ids at a time. */
  maxRedeliveredIds: 100,
} as const;

const { maxWebhooks } = webhookLimits;

/** What is not read of a webhook: its secrets. */
export const unlisted = { secretEncrypted: true, previousSecretEncrypted: true } as const;

/** A webhook as it is shown. */
export type ListedWebhook = Omit<Webhook, keyof typeof unlisted>;

/** A webhook with its secret, which is readable nowhere else. */
export interface IssuedWebhook {
  readonly secret: string;
  readonly webhook: ListedWebhook;
}

/** The properties of a webhook to create. */
export interface WebhookRequest extends WebhookFields {
  readonly url: string;
}

/**
 * Creates a webhook. It takes the events that are committed from now on; some that are committed at the same
 * time may be among them.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also when there are {@link maxWebhooks} already.
 */
export async function createWebhook(context: Context, request: WebhookRequest): Promise<IssuedWebhook> {
  const { app, caller } = context;
  caller.require('admin');
  check(request, app.webhookNetworks);
  const { url, types, environments, description = null } = request;
  return inTransaction(context, async ({ db, sql }) => {
    await db.$queryRaw`select pg_advisory_xact_lock(${creationLock})::text`;
    // What was committed before gets its positions, so that it is not behind the end of the feed.
    while (await assignPositions(sql));
    if ((await db.webhook.count()) >= maxWebhooks) {
      const message = `There are ${maxWebhooks} webhooks, the most that there may be. Delete one that is no longer used.`;
      throw new InvalidInput([{ path: [], message }]);
    }
    // Drawn before the row is stored, because its secret is encrypted for it. Waits until nobody gives out positions.
    const [start] = await db.$queryRaw<{ id: number; position: bigint }[]>`
      select nextval('webhook_id_seq')::int as id, last_position as position from event_feed for share`;
    if (!start) throw new Error('The table event_feed has no row.');
    const secret = generateWebhookSecret();
    const data = {
      ...start,
      url: normalizeUrl(url),
      types: listOf(types),
      environments: listOf(environments),
      description,
      secretEncrypted: encryptWebhookSecret(app.keys, 'secret_encrypted', start.id, secret),
      createdAt: await readClock(db),
    };
    return { secret, webhook: await db.webhook.create({ data, omit: unlisted }) };
  });
}

/** The number of the advisory lock under which webhooks are created. */
const creationLock = 727_076;

/** New properties of a webhook; what is undefined stays as it is; `url` and `enabled` must not be null. */
export interface WebhookChanges extends WebhookFields {
  /** Whether events are sent. */
  readonly enabled?: boolean | null | undefined;
}

/**
 * Changes properties of a webhook. When it is enabled again, its pending deliveries are tried at once, and it takes the events
 * that happened meanwhile, as far as the audit log still has them.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput.
 * @throws NotFound when no webhook has this number.
 */
export async function updateWebhook(context: Context, id: number, changes: WebhookChanges): Promise<ListedWebhook> {
  context.caller.require('admin');
  const { url, types, environments, description, enabled } = changes;
  check(changes, context.app.webhookNetworks, nullIssues({ url, enabled }));
  return inTransaction(context, async ({ db }) => {
    const before = await lockWebhook(db, id);
    const isEnabled = enabled ?? before.enabled;
    const newUrl = url == null ? before.url : normalizeUrl(url);
    const isResumed = isEnabled && !before.enabled;
    const data = {
      url: newUrl,
      types: types === undefined ? before.types : listOf(types),
      environments: environments === undefined ? before.environments : listOf(environments),
      description: description === undefined ? before.description : description,
      enabled: isEnabled,
      ...(isResumed && { disabledReason: null }),
      // Another endpoint has not failed yet.
      ...((isResumed || newUrl !== before.url) && { failingSince: null }),
    };
    const after = await db.webhook.update({ where: { id }, data, omit: unlisted });
    if (isResumed) await retryDeliveries(db, id);
    return after;
  });
}

/**
 * Replaces the secret of a webhook. If several rotations replace the same secret at once, exactly one succeeds.
 *
 * @param overlapSeconds how long deliveries are signed with the replaced secret too, 0 to 604800. A secret that was replaced
 *   earlier no longer signs.
 * @throws InvalidInput.
 * @throws NotFound when no webhook has this number, and for the rotations that do not succeed.
 */
export async function rotateWebhookSecret(context: Context, id: number, overlapSeconds: number): Promise<IssuedWebhook> {
  context.caller.require('admin');
  checkOverlap(overlapSeconds);
  const { keys } = context.app;
  const readSecret = async ({ db }: Context): Promise<string> => {
    const found = await db.webhook.findUnique({ where: { id }, select: { secretEncrypted: true } });
    if (!found) throw noWebhook(id);
    return decryptWebhookSecret(keys, 'secret_encrypted', id, found.secretEncrypted);
  };
  const replaced = await readSecret(context);
  const secret = generateWebhookSecret();
  return inTransaction(context, async (inner) => {
    const { db } = inner;
    await lockWebhook(db, id);
    // The same secret may be stored under another encryption key by now.
    if ((await readSecret(inner)) !== replaced)
      throw new NotFound(`Another rotation replaced the secret of the webhook ${id} at the same time. Nothing was changed.`);
    const endsAt = new Date((await readClock(db)).getTime() + overlapSeconds * 1_000);
    const isKept = overlapSeconds > 0;
    const webhook = await db.webhook.update({
      where: { id },
      data: {
        secretEncrypted: encryptWebhookSecret(keys, 'secret_encrypted', id, secret),
        previousSecretEncrypted: isKept ? encryptWebhookSecret(keys, 'previous_secret_encrypted', id, replaced) : null,
        previousSecretEndsAt: isKept ? endsAt : null,
      },
      omit: unlisted,
    });
    return { secret, webhook };
  });
}

/**
 * Deletes a webhook with its deliveries: first those that are over, in statements of their own, because there may be millions.
 *
 * @throws Forbidden without `admin`.
 * @throws NotFound when no webhook has this number.
 */
export async function deleteWebhook(context: Context, id: number): Promise<void> {
  context.caller.require('admin');
  while ((await removeDeliveries(context.db, id)) === maxDeliveries);
  const { count } = await inTransaction(context, ({ db }) => db.webhook.deleteMany({ where: { id } }));
  if (count === 0) throw noWebhook(id);
}

/** How many deliveries a statement changes, so that it takes well below a second. */
const maxDeliveries = 10_000;

/** Has deliveries that wait for another attempt tried at once; of more than 10,000 those that would be tried first. */
const retryDeliveries = (db: Prisma.TransactionClient, webhookId: number) => db.$executeRaw`
  update webhook_delivery set next_attempt_at = now() where id in (
    select id from webhook_delivery where webhook_id = ${webhookId}::int and status = 'PENDING' and next_attempt_at > now()
    order by next_attempt_at limit ${maxDeliveries})`;

/** Removes deliveries of a webhook that are over, 10,000 at most. @returns how many it removed. */
const removeDeliveries = (db: Prisma.TransactionClient, webhookId: number): Promise<number> => db.$executeRaw`
  delete from webhook_delivery where id = any (array(
    select id from webhook_delivery where webhook_id = ${webhookId}::int and status <> 'PENDING' limit ${maxDeliveries}))`;

/** The webhook with this number, which nobody else changes until the transaction ends. @throws NotFound. */
export async function lockWebhook(db: Prisma.TransactionClient, id: number): Promise<ListedWebhook> {
  await db.$queryRaw`select id from webhook where id = ${id}::int for update`;
  const webhook = await db.webhook.findUnique({ where: { id }, omit: unlisted });
  if (!webhook) throw noWebhook(id);
  return webhook;
}

/** The error for a number that no webhook has. */
export const noWebhook = (id: number): NotFound =>
  new NotFound(`No webhook has the number ${id}. \`webhooks list\` lists all of them.`);

/** @throws InvalidInput. */
function check(fields: WebhookFields, networks: readonly string[], others: readonly Issue[] = []): void {
  const issues = [...others, ...webhookIssues(fields, networks)];
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** A list as it is stored: once each; empty for all. */
const listOf = <Item>(list: readonly Item[] | null | undefined): Item[] => [...new Set(list ?? [])];

const { maxWebhookUrlLength: maxUrlLength } = webhookLimits;

/** The properties of a webhook that are given; the others are undefined. */
export interface WebhookFields {
  /** Where events are sent to: an `https` URL, or an `http` URL of a permitted network. */
  readonly url?: string | null | undefined;
  /** At least one type; `null` means all. */
  readonly types?: readonly EventType[] | null | undefined;
  /** At least one environment; `null` means all, `None` among them. */
  readonly environments?: readonly EventEnvironment[] | null | undefined;
  /** 1 to 255 characters without control characters; `null` means none. */
  readonly description?: string | null | undefined;
}

/** The issues of the given properties of a webhook. @param networks the private networks that webhooks may reach, as CIDRs. */
function* webhookIssues({ url, types, environments, description }: WebhookFields, networks: readonly string[]): Generator<Issue> {
  const urlFault = url == null ? undefined : faultOfUrl(url, networks);
  if (urlFault) yield { path: ['url'], message: urlFault };
  for (const [name, list] of Object.entries({ types, environments })) {
    if (list?.length === 0) yield { path: [name], message: 'must not be empty. Send null for all.' };
  }
  if (description != null) yield* newTextIssues(['description'], description);
}

/** What is wrong with the URL of a webhook. Addresses that a name has are checked at each delivery. */
function faultOfUrl(text: string, networks: readonly string[]): string | undefined {
  const shape = `must be an https URL of at most ${maxUrlLength} characters, without credentials and without a fragment.`;
  if (text.length > maxUrlLength || !/^https?:\/\/[^\s\p{C}#]+$/iu.test(text) || !URL.canParse(text)) return shape;
  const { href, protocol, username, password } = new URL(text);
  if (href.length > maxUrlLength || username + password !== '') return shape;
  if (protocol === 'http:' && networks.length === 0) {
    return 'must begin with https: http is only permitted to the networks in WEBHOOKS_ALLOWED_NETWORKS, and it is not set.';
  }
  return faultOfAddress(new URL(text), networks);
}

/** Why the address that is the host of a URL must not be reached; nothing for a name. */
function faultOfAddress(url: URL, networks: readonly string[]): string | undefined {
  const address = literalAddress(url);
  if (address === undefined) return undefined;
  try {
    checkAddress(address, url.protocol, networks);
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedDestination)) throw error;
    return `must not be reached. ${error.message}`;
  }
}

/** A URL as it is stored, without a second way to write the same: with its host as it is connected to. */
const normalizeUrl = (url: string): string => new URL(url).href;
