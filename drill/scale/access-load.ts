import { untilServed } from './client.ts';
import type { LoadRecorder, RequestKind, Result, Target } from './load-recorder.ts';

/** What it gets from the load. */
interface AccessLoadContext {
  readonly recorder: LoadRecorder;
  /** An API token of the scope `admin`. */
  readonly admin: string;
  /** What the ids of this run's groups begin with. */
  readonly run: string;
  /** Sends a request and records its outcome. @returns undefined when it was not served. */
  request(target: Target, kind: RequestKind, token: string, query: string, variables: object): Promise<Result | undefined>;
  isStopped(): boolean;
}

/** What must not identify a group anymore: an embed token that was revoked, or the tokens of a suspended group. */
interface Closed {
  readonly id: string;
  readonly reason: 'active' | 'resolved';
  readonly embedToken: string;
  /** The token of the suspended group. */
  readonly token?: string | undefined;
}

const create = `mutation ($id: String!) { result: getOrCreateUserGroup(input: { providedId: $id }) {
  __typename ... on GetOrCreateUserGroupPayload { userGroup { teamId token } } } }`;
const sign = `mutation ($id: String!) { result: createEmbedToken(
  input: { by: { providedId: $id }, viewer: { id: "ada" }, expiresInSeconds: 3600 }) {
  __typename ... on CreateEmbedTokenPayload { token } } }`;
const revoke = `mutation ($id: String!, $viewerId: String) { result: revokeEmbedTokens(
  input: { by: { providedId: $id }, viewerId: $viewerId }) {
  __typename ... on RevokeEmbedTokensPayload { userGroup { teamId } } } }`;
const suspend = `mutation ($id: String!) { result: suspendUserGroup(input: { by: { providedId: $id } }) {
  __typename ... on SuspendUserGroupPayload { userGroup { teamId } } } }`;
const resume = `mutation ($id: String!) { result: resumeUserGroup(input: { by: { providedId: $id } }) {
  __typename ... on ResumeUserGroupPayload { userGroup { teamId } } } }`;
const lookUp = 'query ($token: String!) { result: userGroup(by: { token: $token }) { teamId } }';

/** How many of what was closed last are tried again and again, through every event. */
const maxTried = 1_000;

/** Revokes embed tokens, suspends and resumes groups, and tries on every gateway what must not identify a group anymore. */
export function createAccessLoad({ recorder, admin, run, request, isStopped }: AccessLoadContext) {
  const { targets } = recorder;
  const closed: Closed[] = [];
  let unverified: Closed[] = [];

  /** What identifies the group although it must not, by one gateway; nothing while it does not serve. */
  async function tryClosed(target: Target, { reason, embedToken, token }: Closed): Promise<void> {
    const replies = [await target.client.introspect(admin, embedToken)];
    if (token !== undefined) replies.push(await target.client.send(admin, lookUp, { token }));
    for (const reply of replies) {
      recorder.recordFailure(reply);
      if (identifies(reply.data)) recorder.count(reason);
    }
  }

  /** Tries it on every gateway, at once, and an earlier one too. */
  async function close(each: Closed): Promise<void> {
    closed.push(each);
    if (closed.length > maxTried) closed.shift();
    unverified.push(each);
    const earlier = closed[Math.floor(Math.random() * closed.length)] ?? each;
    await Promise.all(targets.map((target) => tryClosed(target, each)));
    await Promise.all(targets.map((target) => tryClosed(target, earlier)));
  }

  /** Creates an embed token, which every gateway that serves finds active. */
  async function createEmbedToken(target: Target, id: string): Promise<string | undefined> {
    const token = (await request(target, 'write', admin, sign, { id }))?.token;
    if (token === undefined) return undefined;
    const replies = await Promise.all(targets.map(({ client }) => client.introspect(admin, token)));
    for (const reply of replies) {
      recorder.recordFailure(reply);
      if (reply.outcome === 'served' && !identifies(reply.data)) recorder.count('stale');
    }
    return token;
  }

  /** Resumes a group, which every gateway that serves then finds. */
  async function resumeGroup(target: Target, id: string, token: string | undefined): Promise<void> {
    if (!(await request(target, 'write', admin, resume, { id }))) return;
    for (const { client } of targets) {
      const reply = await client.send(admin, lookUp, { token });
      recorder.recordFailure(reply);
      if (reply.outcome === 'served' && !identifies(reply.data)) recorder.count('stale');
    }
  }

  return {
    /** Runs on one gateway until the load is stopped. */
    async loop(target: Target, name: string): Promise<void> {
      for (let step = 0; !isStopped(); step += 1) {
        const id = `${run} access ${name} ${step}`;
        const group = await request(target, 'write', admin, create, { id });
        const revoked = group && (await createEmbedToken(target, id));
        if (revoked === undefined) continue;
        if (await request(target, 'write', admin, revoke, { id, viewerId: step % 2 === 0 ? 'ada' : undefined })) {
          recorder.count('revokedEmbedTokens');
          await close({ id, reason: 'active', embedToken: revoked });
        }
        const embedToken = await createEmbedToken(target, id);
        if (embedToken === undefined) continue;
        const { token } = group?.userGroup ?? {};
        if (!(await request(target, 'write', admin, suspend, { id }))) continue;
        recorder.count('suspended');
        // Every other group stays suspended, through the event.
        if (step % 4 < 2) await close({ id, reason: 'resolved', embedToken, token });
        else {
          await Promise.all(targets.map((each) => tryClosed(each, { id, reason: 'resolved', embedToken, token })));
          await resumeGroup(target, id, token);
        }
      }
    },
    /** Tries once more what was closed since the last call, after the event; waits for a gateway that does not serve. */
    async verify(): Promise<string[]> {
      const checked = unverified;
      unverified = [];
      const lost: string[] = [];
      for (const [index, { id, reason, embedToken, token }] of checked.entries()) {
        const { client } = targets[index % targets.length] as Target;
        const replies = [await untilServed(() => client.introspect(admin, embedToken))];
        if (token !== undefined) replies.push(await untilServed(() => client.send(admin, lookUp, { token })));
        const wrong = replies.find(({ outcome, data }) => outcome !== 'served' || identifies(data));
        if (wrong) lost.push(`${id} lost its ${reason === 'active' ? 'revocation' : 'suspension'}: ${wrong.text}`);
      }
      return lost;
    },
  };
}

/** Whether what a gateway served says that a token identifies a group. */
const identifies = (data: Readonly<Record<string, unknown>>): boolean => data['active'] === true || Boolean(data['result']);
