import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { assignPositions } from '../audit-log/feed.ts';
import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from '../database/client.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { metrics } from '../metrics/metrics.ts';
import type { GlobalId } from './body.ts';
import { enqueueDeliveries } from './enqueue.ts';
import { webhookLimits } from './rules.ts';
import { createSender, type SendOptions } from './send.ts';
import { sendDue } from './send-due.ts';
import { findWork, type WebhookWork } from './statements/work.ts';

/** What deliveries use. */
export interface DeliveryContext {
  readonly database: Pick<Database, 'query' | 'sql' | 'transaction'>;
  readonly keys: KeyRing;
  readonly log: Logger;
  readonly globalId: GlobalId;
  /** Receives each time what has failed since the last time, or nothing. */
  readonly report: (error?: unknown) => void;
}

/** How deliveries are made. */
export interface DeliveryOptions extends SendOptions {
  /** How often the gateway looks for what there is to do. Defaults to 2 s. */
  readonly intervalMs?: number;
  /** After how long another gateway tries what this one has begun and not recorded. Defaults to 60 s. */
  readonly leaseSeconds?: number;
  /** How long to wait after each failed attempt. Defaults to the schedule of Standard Webhooks. */
  readonly retrySeconds?: readonly number[];
}

/** For how long a process leaves a webhook whose secret it cannot decrypt to others. */
const unableMs = 60_000;

/** How long to wait before the next part of a webhook's events. */
const moreDelayMs = 50;

/** The deliveries of a process. */
export interface Deliveries {
  /** Begins no further deliveries. */
  drain(): void;
  /** The same, and waits until those in flight have ended, at most for the time that an attempt may take. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts to deliver events to webhooks. Any number of processes may do so: each event is delivered at least once to each webhook
 * that takes it.
 *
 * Every two seconds it looks for what there is to do, with one statement, and begins to send to each webhook that has something
 * due, unless it still sends to it.
 */
export function startDeliveries(context: DeliveryContext, options: DeliveryOptions): Deliveries {
  const { database, log, globalId, report } = context;
  const { intervalMs = 2_000, leaseSeconds = 60, retrySeconds } = options;
  const sender = createSender(options);
  const draining = new AbortController();
  const { signal } = draining;
  /** What is sent now, by the number of the webhook. */
  const sending = new Map<number, Promise<void>>();
  /** The webhooks whose secrets this process cannot decrypt. */
  const unable = new LRUCache<number, true>({ max: webhookLimits.maxWebhooks, ttl: unableMs });
  let nextDelayMs = intervalMs;
  /** What has failed since the last look. */
  let failure: unknown;
  const onFailure = (error: unknown): void => {
    failure ??= error;
  };

  const onFailureOf =
    ({ id }: WebhookWork) =>
    (error: Error) =>
      onFailure(new Error(`Webhook ${id}: ${error.message}`, { cause: error }));

  async function look(): Promise<void> {
    nextDelayMs = intervalMs;
    const { webhooks, hasNewEvents } = await findWork(database, leaseSeconds);
    metrics.webhookDelay.set(Math.max(0, ...webhooks.map(({ dueSeconds }) => dueSeconds ?? 0)));
    if (hasNewEvents) while (await assignPositions(database.sql)) if (signal.aborted) return;
    for (const webhook of webhooks) {
      const isAny = (hasNewEvents || webhook.isBehind) && (await enqueue(webhook).catch(onFailureOf(webhook)));
      if (signal.aborted) return;
      if ((isAny || webhook.dueSeconds !== null) && !webhook.isLeased && !sending.has(webhook.id) && !unable.has(webhook.id))
        sending.set(webhook.id, send(webhook));
    }
    report(failure);
    failure = undefined;
  }

  /** One part of the events at a time, so that a webhook with many does not keep the others waiting. */
  async function enqueue(webhook: WebhookWork): Promise<boolean> {
    const { isAny, hasMore, isIncomplete } = await enqueueDeliveries(database, webhook, globalId);
    if (hasMore) nextDelayMs = Math.min(moreDelayMs, intervalMs);
    if (isIncomplete)
      log.warn({ webhook: webhook.id }, 'events were removed before they were sent to a webhook: see AUDIT_RETENTION_DAYS');
    return isAny;
  }

  async function send(webhook: WebhookWork): Promise<void> {
    const sendContext = { ...context, sender, leaseSeconds, retrySeconds, pauseMs: intervalMs, onFailure };
    try {
      if (!(await sendDue(sendContext, webhook, signal))) unable.set(webhook.id, true);
    } catch (error) {
      onFailureOf(webhook)(error as Error);
    } finally {
      sending.delete(webhook.id);
    }
  }

  // Processes that start together do not look together.
  const stopLooking = runPeriodically(look, {
    firstDelayMs: Math.random() * intervalMs,
    nextDelayMs: () => nextDelayMs,
    onFailure: report,
  });
  let stopped: Promise<void> | undefined;
  const drain = (): void => {
    draining.abort();
    stopped ??= stopLooking();
  };
  return {
    drain,
    async stop() {
      drain();
      await stopped;
      await Promise.all(sending.values());
      if (failure !== undefined) report(failure);
      sender.close();
    },
  };
}
