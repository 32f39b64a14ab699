import type { Client, Reply } from './client.ts';

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
  /** Revocations of API tokens that were acknowledged. */
  readonly revoked: number;
  /** Revocations of embed tokens, of a group or of a viewer, that were acknowledged. */
  readonly revokedEmbedTokens: number;
  /** Introspections of embed tokens that began after their revocation was acknowledged, and found them active. */
  readonly active: number;
  /** Suspensions that were acknowledged. */
  readonly suspended: number;
  /** Look-ups and introspections of a group's tokens that began after its suspension was acknowledged, and found it. */
  readonly resolved: number;
}

/** What the load finds out by itself. */
export type Finding = 'stale' | 'admitted' | 'revoked' | 'revokedEmbedTokens' | 'active' | 'suspended' | 'resolved';

/** A gateway with when it last served. */
export interface Target {
  readonly client: Client;
  lastWrite: number;
  lastRead: number;
  writeOutageMs: number;
  readOutageMs: number;
}

/** Whether a request changes something. */
export type RequestKind = 'write' | 'read';

/** The result of an operation; each has its own members. */
export interface Result {
  readonly __typename?: string;
  readonly name?: string;
  readonly token?: string;
  readonly secret?: string;
  readonly apiToken?: { readonly id: string };
  readonly userGroup?: { readonly token?: string };
}

/** Records the responses of gateways. */
export class LoadRecorder {
  readonly targets: readonly Target[];
  /** Since the last report. */
  private counts = emptyCounts();

  /** @param clients one for each gateway. */
  constructor(clients: readonly Client[]) {
    const now = performance.now();
    this.targets = clients.map((client) => ({ client, lastWrite: now, lastRead: now, writeOutageMs: 0, readOutageMs: 0 }));
  }

  /** Records the response to a request that must succeed. @returns its result; undefined when it was not served. */
  record(target: Target, kind: RequestKind, reply: Reply): Result | undefined {
    this.recordFailure(reply);
    const result = reply.data['result'] as Result | null | undefined;
    if (reply.outcome === 'served' && (kind === 'read' || result?.__typename?.endsWith('Payload'))) {
      this.recordServed(target, kind);
      return result ?? {};
    }
    if (reply.outcome === 'served' || reply.outcome === 'rejected') this.counts.wrong.push(reply.text);
    return undefined;
  }

  /** Records a response that is wrong for every request, or of which there is none. */
  recordFailure({ outcome, text }: Reply): void {
    if (outcome === 'unavailable') this.counts.unavailable += 1;
    if (outcome === 'closed') this.counts.closed += 1;
    if (outcome === 'wrong') this.counts.wrong.push(text);
  }

  /** Counts what the load found out by itself. */
  count(what: Finding): void {
    this.counts[what] += 1;
  }

  private recordServed(target: Target, kind: RequestKind): void {
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
}

const emptyCounts = () => ({
  acknowledged: 0,
  served: 0,
  unavailable: 0,
  closed: 0,
  stale: 0,
  admitted: 0,
  revoked: 0,
  revokedEmbedTokens: 0,
  active: 0,
  suspended: 0,
  resolved: 0,
  wrong: [] as string[],
});
