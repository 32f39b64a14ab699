import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type Reply, type Send } from './client.ts';

/** What happened since the last report. */
export interface LoadReport {
  /** The longest time without an acknowledged write, and without a served read, of the gateway where it was longest. */
  readonly writeOutageMs: number;
  readonly readOutageMs: number;
  readonly acknowledged: number;
  readonly served: number;
  readonly unavailable: number;
  /** Requests without a response, because a process of the gateway ended. */
  readonly closed: number;
  /** Responses that should not exist, shortened. */
  readonly wrong: readonly string[];
  /** Acknowledged writes that are not there. */
  readonly lost: readonly string[];
  /** Reads that began after a write was acknowledged and show the state before it. */
  readonly stale: number;
  /** Requests with an API token that began after its revocation was acknowledged, and were served. */
  readonly admitted: number;
  /** Revocations that were acknowledged. */
  readonly revoked: number;
}

/** A gateway with when it last served. */
export interface Target {
  readonly send: Send;
  lastWrite: number;
  lastRead: number;
  writeOutageMs: number;
  readOutageMs: number;
}

/** Pauses of a writer or reader between requests, in milliseconds. */
export const paceMs = 5;

/** The pause after a request that was not served, in milliseconds. */
export const retryMs = 50;

/** The result of an operation; each has its own members. */
export interface Result {
  readonly __typename?: string;
  readonly name?: string;
  readonly token?: string;
  readonly secret?: string;
  readonly apiToken?: { readonly id: string };
  readonly userGroup?: { readonly token?: string };
}

/** Sends requests to gateways, and records their outcomes. */
export class LoadRecorder {
  readonly targets: readonly Target[];
  /** Since the last report. */
  counts = emptyCounts();
  private readonly clients: readonly ReturnType<typeof createClient>[];

  /** @param ports one for each gateway. */
  constructor(ports: readonly number[]) {
    this.clients = ports.map(createClient);
    this.targets = this.clients.map(({ send }) => {
      const now = performance.now();
      return { send, lastWrite: now, lastRead: now, writeOutageMs: 0, readOutageMs: 0 };
    });
  }

  /** Sends a request, records its outcome, and pauses. @returns undefined when it was not served. */
  async request(
    target: Target,
    kind: 'write' | 'read',
    token: string,
    query: string,
    variables: object,
  ): Promise<Result | undefined> {
    const reply = await target.send(token, query, variables);
    this.note(reply);
    const result = reply.data['result'] as Result | null | undefined;
    if (reply.outcome === 'served' && (kind === 'read' || result?.__typename?.endsWith('Payload'))) {
      this.noteServed(target, kind);
      await pause(paceMs);
      return result ?? {};
    }
    if (reply.outcome === 'served' || reply.outcome === 'rejected') this.counts.wrong.push(reply.text);
    await pause(retryMs);
    return undefined;
  }

  /** Records a response that is not the expected one. */
  note({ outcome, text }: Reply): void {
    if (outcome === 'unavailable') this.counts.unavailable += 1;
    if (outcome === 'closed') this.counts.closed += 1;
    if (outcome === 'wrong') this.counts.wrong.push(text);
  }

  private noteServed(target: Target, kind: 'write' | 'read'): void {
    const now = performance.now();
    if (kind === 'write') {
      this.counts.acknowledged += 1;
      target.writeOutageMs = Math.max(target.writeOutageMs, now - target.lastWrite);
      target.lastWrite = now;
    } else {
      this.counts.served += 1;
      target.readOutageMs = Math.max(target.readOutageMs, now - target.lastRead);
      target.lastRead = now;
    }
  }

  /** Returns what happened since the last report, with the writes that were lost, and begins the next one. */
  takeReport(lost: readonly string[]): LoadReport {
    const worst = (pick: (target: Target) => number) => Math.max(...this.targets.map(pick));
    const report = {
      ...this.counts,
      lost,
      writeOutageMs: worst(({ writeOutageMs }) => writeOutageMs),
      readOutageMs: worst(({ readOutageMs }) => readOutageMs),
    };
    this.counts = emptyCounts();
    for (const target of this.targets) target.writeOutageMs = target.readOutageMs = 0;
    return report;
  }

  close(): void {
    for (const client of this.clients) client.close();
  }
}

const emptyCounts = () => ({
  ...{ acknowledged: 0, served: 0, unavailable: 0, closed: 0, stale: 0, admitted: 0, revoked: 0 },
  wrong: [] as string[],
});
