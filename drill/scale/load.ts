import { setTimeout as pause } from 'node:timers/promises';
import { createAccessLoad } from './access-load.ts';
import { createClient, retryMs, untilServed } from './client.ts';
import { LoadRecorder, type LoadReport, type RequestKind, type Result, type Target } from './load-recorder.ts';

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

const create = `mutation ($id: String!) { result: getOrCreateUserGroup(input: { providedId: $id, name: "0" }) {
  __typename ... on GetOrCreateUserGroupPayload { userGroup { token } } } }`;
const update = `mutation ($id: String!, $name: String!) { result: updateUserGroup(input: { by: { providedId: $id }, name: $name }) {
  __typename ... on UpdateUserGroupPayload { userGroup { name } } } }`;
const rotate = `mutation ($token: String!) { result: rotateUserGroupToken(input: { currentToken: $token }) {
  __typename ... on RotateUserGroupTokenPayload { userGroup { token } } } }`;
const issue = `mutation { result: createApiToken(input: { name: "drill", scopes: [GROUPS_READ] }) {
  __typename ... on CreateApiTokenPayload { secret apiToken { id } } } }`;
const revoke = `mutation ($id: ID!) { result: revokeApiToken(input: { id: $id }) {
  __typename ... on RevokeApiTokenPayload { apiToken { id } } } }`;
const read = 'query ($id: String!) { result: userGroup(by: { providedId: $id }) { name token } }';

const writersPerGateway = 3;
const readersPerGateway = 2;

/** The pause of a writer or reader between requests. */
const paceMs = 5;

/** Starts it, with an API token of the scope `admin`. Groups get ids of this run's own. */
export function startLoad(ports: readonly number[], admin: string): Load {
  const clients = ports.map(createClient);
  const recorder = new LoadRecorder(clients);
  const { targets } = recorder;
  const run = Math.random().toString(36).slice(2);
  const groups: Group[] = [];
  const revoked: string[] = [];
  let unverified: Group[] = [];
  let stopped = false;

  /** Sends a request, records its outcome, and pauses. @returns undefined when it was not served. */
  async function request(
    target: Target,
    kind: RequestKind,
    token: string,
    query: string,
    variables: object,
  ): Promise<Result | undefined> {
    const result = recorder.record(target, kind, await target.client.send(token, query, variables));
    await pause(result ? paceMs : retryMs);
    return result;
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
        if (result && !(Number(result.name) >= version)) recorder.count('stale');
      }
    }
  }

  async function tryRevoked(target: Target, secret: string): Promise<void> {
    const reply = await target.client.send(secret, read, { id: 'none' });
    recorder.recordFailure(reply);
    if (reply.outcome === 'served') recorder.count('admitted');
    await pause(reply.outcome === 'rejected' ? paceMs : retryMs);
  }

  /** Uses an API token that was just issued: who does not know it reads an old state. */
  async function useIssued(target: Target, secret: string): Promise<void> {
    const reply = await target.client.send(secret, read, { id: 'none' });
    if (reply.outcome === 'rejected') recorder.count('stale');
    else recorder.record(target, 'read', reply);
    await pause(reply.outcome === 'served' ? paceMs : retryMs);
  }

  /** Issues API tokens, uses them, revokes them, and tries each on every gateway. */
  async function revokeTokens(target: Target): Promise<void> {
    while (!stopped) {
      const issued = await request(target, 'write', admin, issue, {});
      if (!issued?.secret) continue;
      for (const each of targets) await useIssued(each, issued.secret);
      if (!(await request(target, 'write', admin, revoke, { id: issued.apiToken?.id }))) continue;
      revoked.push(issued.secret);
      recorder.count('revoked');
      for (const each of targets) await tryRevoked(each, issued.secret);
    }
  }

  /** What is missing of a group; asks until it is served. */
  async function verify(target: Target, group: Group): Promise<string[]> {
    const { providedId, version, token } = group;
    const reply = await untilServed(() => target.client.send(admin, read, { id: providedId }));
    const found = reply.data['result'] as Result | null | undefined;
    if (!found) return [`${providedId} is missing: ${reply.text}`];
    return [
      ...(Number(found.name) >= version ? [] : [`${providedId} is at version ${found.name}, acknowledged was ${version}`]),
      ...(token === undefined || token !== group.token || found.token === token ? [] : [`${providedId} lost a rotation`]),
    ];
  }

  const access = createAccessLoad({ recorder, admin, run, request, isStopped: () => stopped });
  const loops = targets.flatMap((target, index) => [
    ...Array.from({ length: writersPerGateway }, (_, writer) => write(target, `${index}.${writer}`)),
    ...Array.from({ length: readersPerGateway }, () => readAll(target)),
    revokeTokens(target),
    access.loop(target, String(index)),
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
      lost.push(...(await access.verify()));
      return recorder.takeReport(lost);
    },
    async stop() {
      stopped = true;
      await Promise.all(loops);
      for (const client of clients) client.close();
    },
  };
}
