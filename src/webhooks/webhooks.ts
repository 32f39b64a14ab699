import { checkOverlap } from '../api-tokens/api-tokens.ts';
import { type Author, changeAs } from '../audit-log/statements/author.ts';
import type { Feed } from '../audit-log/statements/feed.ts';
import { readClock } from '../database/timed-read.ts';
import type { Db } from '../db.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { InvalidInput, type Issue, NotFound } from '../errors.ts';
import type { PrismaClient, Webhook } from '../generated/prisma/client.ts';
import { nullIssues } from '../user-groups/values.ts';
import { normalizeUrl, type WebhookFields, webhookIssues, webhookLimits } from './rules.ts';
import { decryptWebhookSecret, encryptWebhookSecret, generateWebhookSecret } from './secrets.ts';
import { drawWebhookNumber, lockWebhook, lockWebhookCreation, removeDeliveries, retryDeliveries } from './statements/webhooks.ts';

const { maxWebhooks } = webhookLimits;

/** What webhooks are managed with. */
export interface WebhookContext {
  readonly db: Db;
  readonly feed: Pick<Feed, 'assign'>;
  /** Encrypt the secrets. */
  readonly keys: KeyRing;
  /** The private networks that webhooks may reach, as CIDRs. */
  readonly webhookNetworks: readonly string[];
}

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
 * @throws InvalidInput, also when there are {@link maxWebhooks} already.
 */
export async function createWebhook(
  { db, keys, feed, webhookNetworks }: WebhookContext,
  request: WebhookRequest,
  author: Author,
): Promise<IssuedWebhook> {
  check(request, webhookNetworks);
  const { url, types, environments, description = null } = request;
  // What was committed before gets its positions, so that it is not behind the end of the feed.
  while (await feed.assign());
  return changeAs(db, author, async (transaction) => {
    await lockWebhookCreation(transaction);
    if ((await transaction.webhook.count()) >= maxWebhooks) {
      const message = `There are ${maxWebhooks} webhooks, the most that there may be. Delete one that is no longer used.`;
      throw new InvalidInput([{ path: [], message }]);
    }
    const id = await drawWebhookNumber(transaction);
    const secret = generateWebhookSecret();
    const data = {
      id,
      url: normalizeUrl(url),
      types: listOf(types),
      environments: listOf(environments),
      description,
      secretEncrypted: encryptWebhookSecret(keys, 'secret_encrypted', id, secret),
      position: (await transaction.eventFeed.findFirstOrThrow()).lastPosition,
      createdAt: await readClock(transaction),
    };
    const webhook = await transaction.webhook.create({ data, omit: unlisted });
    return { secret, webhook };
  });
}

/** New properties of a webhook; what is undefined stays as it is; `url` and `enabled` must not be null. */
export interface WebhookChanges extends WebhookFields {
  /** Whether events are sent. */
  readonly enabled?: boolean | null | undefined;
}

/**
 * Changes properties of a webhook. When it is enabled again, its pending deliveries are tried at once, and it takes the events
 * that happened meanwhile, as far as the audit log still has them.
 *
 * @throws InvalidInput.
 * @throws NotFound when no webhook has this number.
 */
export async function updateWebhook(
  { db, webhookNetworks }: Pick<WebhookContext, 'db' | 'webhookNetworks'>,
  id: number,
  changes: WebhookChanges,
  author: Author,
): Promise<ListedWebhook> {
  const { url, types, environments, description, enabled } = changes;
  check(changes, webhookNetworks, nullIssues({ url, enabled }));
  return changeAs(db, author, async (transaction) => {
    await lockWebhook(transaction, id);
    const before = await findWebhook(transaction, id);
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
    const after = await transaction.webhook.update({ where: { id }, data, omit: unlisted });
    if (isResumed) await retryDeliveries(transaction, id);
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
export async function rotateWebhookSecret(
  { db, keys }: Pick<WebhookContext, 'db' | 'keys'>,
  id: number,
  overlapSeconds: number,
  author: Author,
): Promise<IssuedWebhook> {
  checkOverlap(overlapSeconds);
  const readSecret = async (reader: Pick<PrismaClient, 'webhook'>): Promise<string> => {
    const found = await reader.webhook.findUnique({ where: { id }, select: { secretEncrypted: true } });
    if (!found) throw noWebhook(id);
    return decryptWebhookSecret(keys, 'secret_encrypted', id, found.secretEncrypted);
  };
  const replaced = await readSecret(db);
  const secret = generateWebhookSecret();
  return changeAs(db, author, async (transaction) => {
    await lockWebhook(transaction, id);
    // The same secret may be stored under another encryption key by now.
    if ((await readSecret(transaction)) !== replaced)
      throw new NotFound(`Another rotation replaced the secret of the webhook ${id} at the same time. Nothing was changed.`);
    const endsAt = new Date((await readClock(transaction)).getTime() + overlapSeconds * 1_000);
    const isKept = overlapSeconds > 0;
    const webhook = await transaction.webhook.update({
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
 * Deletes a webhook with its deliveries: first most of the deliveries, in statements of their own, because there may be millions.
 *
 * @throws NotFound when no webhook has this number.
 */
export async function deleteWebhook({ db }: Pick<WebhookContext, 'db'>, id: number, author: Author): Promise<void> {
  while ((await removeDeliveries(db, id)) > 0);
  const { count } = await changeAs(db, author, (transaction) => transaction.webhook.deleteMany({ where: { id } }));
  if (count === 0) throw noWebhook(id);
}

/** The webhook with this number. @throws NotFound. */
export async function findWebhook(db: Pick<PrismaClient, 'webhook'>, id: number): Promise<ListedWebhook> {
  const webhook = await db.webhook.findUnique({ where: { id }, omit: unlisted });
  if (!webhook) throw noWebhook(id);
  return webhook;
}

/** Every webhook, oldest first. */
export function listWebhooks(db: Pick<PrismaClient, 'webhook'>): Promise<ListedWebhook[]> {
  return db.webhook.findMany({ orderBy: { id: 'asc' }, omit: unlisted });
}

const noWebhook = (id: number): NotFound => new NotFound(`No webhook has the number ${id}. \`webhooks list\` lists all of them.`);

/** @throws InvalidInput. */
function check(fields: WebhookFields, networks: readonly string[], others: readonly Issue[] = []): void {
  const issues = [...others, ...webhookIssues(fields, networks)];
  if (issues.length > 0) throw new InvalidInput(issues);
}

/** A list as it is stored: once each; empty for all. */
const listOf = <Item>(list: readonly Item[] | null | undefined): Item[] => [...new Set(list ?? [])];
