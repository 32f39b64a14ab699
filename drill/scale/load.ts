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

/** Small writers and readers on every gateway. */
export interface Load {
  /** Resolves once each gateway has acknowledged a write and served a read that began after this call. */
  untilServed(timeoutMs: number): Promise<void>;
  /** Checks every acknowledged write, and begins the next report. */
  report(): Promise<LoadReport>;
  stop(): Promise<void>;
}

/** A group, with what its writer knows of it. */
interface Group {
  readonly providedId: string;
  /** The highest version whose write was acknowledged; each write has a higher one than all before. */
  version: number;
  /** Undefined while a rotation without an acknowledgement may have been made. */
  token: string | undefined;
}

/** A gateway with when it last served. */
interface Target {
  readonly send: Send;
  lastWrite: number;
  lastRead: number;
  writeOutageMs: number;
  readOutageMs: number;
}

const create = `mutation ($id: String!) { result: getOrCreateUserGroup(input: { providedId: $id, name: "0" }) {
  __typename ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
const update = `mutation ($id: String!, $name: String!) { result: updateUserGroup(input: { by: { providedId: $id }, name: $name }) {
  __typename ... on UpdateUserGroupPayload { userGroup { name } } } }`;
const rotate = `mutation ($token: String!) { result: rotateUserGroupToken(input: { currentToken: $token }) {
  __typename ... on RotateUserGroupTokenPayload { userGroup { token } } } }`;
const issue = `mutation { result: createApiToken(input: { name: "drill", scopes: ["groups:read"] }) {
  __typename ... on CreateApiTokenPayload { secret apiToken { id } } } }`;
const revoke = `mutation ($id: ID!) { result: revokeApiToken(input: { id: $id }) {
  __typename ... on RevokeApiTokenPayload { apiToken { id } } } }`;
const read = 'query ($id: String!) { result: userGroup(by: { providedId: $id }) { name token } }';

/** Pauses of a writer or reader between requests, and after one that was not served. */
const paceMs = 5;
const retryMs = 50;

const writersPerGateway = 3;
const readersPerGateway = 2;

interface Result {
  readonly __typename?: string;
  readonly name?: string;
  readonly token?: string;
  readonly secret?: string;
  readonly apiToken?: { readonly id: string };
  readonly userGroup?: { readonly token?: string };
}

/** Starts it, with an API token of the scope `admin`. Groups get ids of this run's own. */
export function startLoad(ports: readonly number[], admin: string): Load {
  const clients = ports.map(createClient);
  const targets = clients.map(({ send }): Target => {
    const now = performance.now();
    return { send, lastWrite: now, lastRead: now, writeOutageMs: 0, readOutageMs: 0 };
  });
  const run = Math.random().toString(36).slice(2);
  const groups: Group[] = [];
  const revoked: string[] = [];
  let counts = emptyCounts();
  let unverified: Group[] = [];
  let stopped = false;

  async function request(
    target: Target,
    kind: 'write' | 'read',
    token: string,
    query: string,
    variables: object,
  ): Promise<Result | undefined> {
    const reply = await target.send(token, query, variables);
    note(reply);
    const result = reply.data['result'] as Result | null | undefined;
    if (reply.outcome === 'served' && (kind === 'read' || result?.__typename?.endsWith('Payload'))) {
      noteServed(target, kind);
      await pause(paceMs);
      return result ?? {};
    }
    if (reply.outcome === 'served' || reply.outcome === 'rejected') counts.wrong.push(reply.text);
    await pause(retryMs);
    return undefined;
  }

  function note({ outcome, text }: Reply): void {
    if (outcome === 'unavailable') counts.unavailable += 1;
    if (outcome === 'closed') counts.closed += 1;
    if (outcome === 'wrong') counts.wrong.push(text);
  }

  function noteServed(target: Target, kind: 'write' | 'read'): void {
    const now = performance.now();
    if (kind === 'write') {
      counts.acknowledged += 1;
      target.writeOutageMs = Math.max(target.writeOutageMs, now - target.lastWrite);
      target.lastWrite = now;
    } else {
      counts.served += 1;
      target.readOutageMs = Math.max(target.readOutageMs, now - target.lastRead);
      target.lastRead = now;
    }
  }

  /** Creates groups, and changes and rotates the newest. */
  async function write(target: Target, name: string): Promise<void> {
    let group: Group | undefined;
    let attempt = 0;
    for (let step = 0; !stopped; step += 1) {
      if (!group || step % 12 === 0) {
        const providedId = `${run} ${name} ${step}`;
        const result = await request(target, 'write', admin, create, { id: providedId });
        if (!result) continue;
        group = { providedId, version: 0, token: result.userGroup?.token };
        groups.push(group);
        unverified.push(group);
      } else if (step % 4 === 0 && group.token !== undefined) {
        const { token } = group;
        group.token = undefined;
        const result = await request(target, 'write', admin, rotate, { token });
        if (result) group.token = result.userGroup?.token;
      } else {
        attempt += 1;
        const result = await request(target, 'write', admin, update, { id: group.providedId, name: String(attempt) });
        if (result) group.version = attempt;
      }
    }
  }

  /** Reads groups of all writers, and tries API tokens that were revoked earlier. */
  async function readAll(target: Target): Promise<void> {
    for (let step = 0; !stopped; step += 1) {
      const group = groups[Math.floor(Math.random() ** 2 * groups.length)];
      const secret = revoked[Math.floor(Math.random() * revoked.length)];
      if (step % 4 === 0 && secret !== undefined) await tryRevoked(target, secret);
      else if (!group) await pause(retryMs);
      else {
        const { version } = group;
        const result = await request(target, 'read', admin, read, { id: group.providedId });
        if (result && !(Number(result.name) >= version)) counts.stale += 1;
      }
    }
  }

  async function tryRevoked(target: Target, secret: string): Promise<void> {
    const reply = await target.send(secret, read, { id: 'none' });
    note(reply);
    if (reply.outcome === 'served') counts.admitted += 1;
    await pause(reply.outcome === 'rejected' ? paceMs : retryMs);
  }

  /** Issues API tokens, uses them, revokes them, and tries each on every gateway. */
  async function revokeTokens(target: Target): Promise<void> {
    while (!stopped) {
      const issued = await request(target, 'write', admin, issue, {});
      if (!issued?.secret) continue;
      for (const each of targets) await request(each, 'read', issued.secret, read, { id: 'none' });
      if (!(await request(target, 'write', admin, revoke, { id: issued.apiToken?.id }))) continue;
      revoked.push(issued.secret);
      counts.revoked += 1;
      for (const each of targets) await tryRevoked(each, issued.secret);
    }
  }

  /** What is missing of a group; asks until it is served. */
  async function verify(target: Target, group: Group): Promise<string[]> {
    const { providedId, version, token } = group;
    let reply = await target.send(admin, read, { id: providedId });
    for (const deadline = Date.now() + 30_000; reply.outcome !== 'served' && Date.now() < deadline; await pause(retryMs))
      reply = await target.send(admin, read, { id: providedId });
    const found = reply.data['result'] as Result | null | undefined;
    if (!found) return [`${providedId} is missing: ${reply.text}`];
    return [
      ...(Number(found.name) >= version ? [] : [`${providedId} is at version ${found.name}, acknowledged was ${version}`]),
      ...(token === undefined || token !== group.token || found.token === token ? [] : [`${providedId} lost a rotation`]),
    ];
  }

  const lanes = targets.flatMap((target, index) => [
    ...Array.from({ length: writersPerGateway }, (_, writer) => write(target, `${index}.${writer}`)),
    ...Array.from({ length: readersPerGateway }, () => readAll(target)),
    revokeTokens(target),
  ]);

  return {
    async untilServed(timeoutMs) {
      const from = performance.now();
      while (targets.some(({ lastWrite, lastRead }) => Math.min(lastWrite, lastRead) < from)) {
        if (performance.now() - from > timeoutMs) throw new Error(`No service after ${timeoutMs / 1_000} s.`);
        await pause(20);
      }
      await pause(1_000); // in which what was in flight ends
    },
    async report() {
      const checked = unverified;
      // Again next time: their writers may still change them.
      unverified = checked.slice(-2 * writersPerGateway * targets.length);
      const lost: string[] = [];
      for (const [index, group] of checked.entries())
        lost.push(...(await verify(targets[index % targets.length] as Target, group)));
      const worst = (pick: (target: Target) => number) => Math.max(...targets.map(pick));
      const report = {
        ...counts,
        lost,
        writeOutageMs: worst(({ writeOutageMs }) => writeOutageMs),
        readOutageMs: worst(({ readOutageMs }) => readOutageMs),
      };
      counts = emptyCounts();
      for (const target of targets) target.writeOutageMs = target.readOutageMs = 0;
      return report;
    },
    async stop() {
      stopped = true;
      await Promise.all(lanes);
      for (const client of clients) client.close();
    },
  };
}

const emptyCounts = () => ({
  ...{ acknowledged: 0, served: 0, unavailable: 0, closed: 0, stale: 0, admitted: 0, revoked: 0 },
  wrong: [] as string[],
});
