import { setTimeout as sleep } from 'node:timers/promises';
import { bindFeed } from '../audit-log/statements/feed.ts';
import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from '../database/client.ts';
import {
  bindDeliveryRemoval,
  bindEventRemoval,
  bindIdempotencyRecordRemoval,
  bindRetiredSecretRemoval,
  bindRetiredTokenRemoval,
  bindRevokedViewerRemoval,
  type RemoveBatch,
} from './statements.ts';

/** How many rows are removed in one statement: few enough that it takes milliseconds. */
const batchSize = 500;

/** The pause between two statements, so that removing many rows takes a small part of the database's time. */
const pauseMs = 50;

/** How often a run begins, and by how much each interval is shorter or longer, so that instances do not run in step. */
const intervalMs = 3_600_000;
const jitter = 0.2;

/** The longest that the first run waits, so that instances that are restarted often do it too. */
const maxFirstDelayMs = 60_000;

/** What is kept. The clock that decides what is older is the database's. */
export interface HousekeepingOptions {
  /** How many days events are kept: at least 1. */
  readonly retentionDays: number;
  /** Ends a run between two statements. */
  readonly signal?: AbortSignal;
}

/** How many rows a run removed. */
export interface HousekeepingResult {
  readonly events: number;
  readonly retiredTokens: number;
  readonly revokedViewers: number;
  readonly idempotencyRecords: number;
  readonly webhookDeliveries: number;
  readonly webhookSecrets: number;
}

/**
 * Removes what is no longer needed, in small batches: events that are older than is to be kept, replaced user group tokens whose
 * grace period is over, generations of viewers whose revoked embed tokens have expired, stored responses that are older than
 * 24 hours, deliveries of webhooks that ended and are older than 30 days, those that are pending for longer than events are kept,
 * and secrets of webhooks that were replaced and no longer sign. While another instance does so, leaves the rest to that one.
 *
 * Replaced secrets of API tokens stay: one that was forgotten, and is still set as `BOOTSTRAP_API_TOKEN` somewhere, would be
 * accepted again.
 */
export async function runHousekeeping(
  database: Pick<Database, 'query'>,
  { retentionDays, signal }: HousekeepingOptions,
): Promise<HousekeepingResult> {
  // Events that are not in the event feed yet must not be removed before its readers could get them.
  const feed = bindFeed(database);
  while (!signal?.aborted && (await feed.assign()));
  // What else is kept for a time gets a line here.
  return {
    events: await removeAll(bindEventRemoval(database, retentionDays), signal),
    retiredTokens: await removeAll(bindRetiredTokenRemoval(database), signal),
    revokedViewers: await removeAll(bindRevokedViewerRemoval(database), signal),
    idempotencyRecords: await removeAll(bindIdempotencyRecordRemoval(database), signal),
    webhookDeliveries: await removeAll(bindDeliveryRemoval(database, retentionDays), signal),
    webhookSecrets: await removeAll(bindRetiredSecretRemoval(database), signal),
  };
}

async function removeAll(removeBatch: RemoveBatch, signal: AbortSignal | undefined): Promise<number> {
  let total = 0;
  while (!signal?.aborted) {
    const removed = await removeBatch(batchSize);
    total += removed ?? 0;
    if (removed === undefined || removed < batchSize) break;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return total;
}

/** What a schedule reports. */
export interface HousekeepingReports {
  readonly onRemoved: (result: HousekeepingResult) => void;
  /** A run failed; the next one begins as usual. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs the housekeeping about once an hour, the first time within a minute.
 *
 * @returns a function that stops it and waits for its end.
 */
export function startHousekeeping(
  database: Pick<Database, 'query'>,
  { retentionDays }: Pick<HousekeepingOptions, 'retentionDays'>,
  { onRemoved, onFailure }: HousekeepingReports,
): () => Promise<void> {
  return runPeriodically(
    async (signal) => {
      const result = await runHousekeeping(database, { retentionDays, signal });
      if (Object.values(result).some((rows) => rows > 0)) onRemoved(result);
    },
    {
      firstDelayMs: Math.random() * maxFirstDelayMs,
      nextDelayMs: () => intervalMs * (1 + jitter * (2 * Math.random() - 1)),
      onFailure,
    },
  );
}
