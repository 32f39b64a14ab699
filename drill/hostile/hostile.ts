import { residentMiB } from '../../test/support/processes.ts';
import { type RequestOptions, send, sendGraphQL } from '../client.ts';
import { Instance } from '../instance.ts';
import { type Scenario, seconds } from '../scenario.ts';
import { openMany, type RawOptions } from './connections.ts';
import { type Outcome, type Result, resultOf } from './result.ts';

/** The target of a scenario, and ways to send requests to it. */
export interface Target {
  /** An API token with `groups:read` and `groups:write`. */
  readonly token: string;
  /** A group with 64 KiB of properties. */
  readonly large: { readonly id: string; readonly teamId: number };
  /** Sends a `POST` to `/graphql` over a new connection. */
  post(options: RequestOptions): Promise<Result>;
  /** Sends a GraphQL request as JSON; anonymous without a token. */
  graphql(params: object, token?: string): Promise<Result>;
  /** Opens this many connections that send what no HTTP client sends. */
  openMany(count: number, options: (index: number) => RawOptions): Promise<Result[]>;
}

/** A hostile request, or a set of them. */
export interface HostileRequests {
  readonly name: string;
  readonly summary: string;
  /** Each outcome must be one of these; only `4xx` by default. */
  readonly expects?: readonly Outcome[];
  /** At least one outcome must be one of these: a scenario does not pass if its requests were refused for another reason. */
  readonly someExpect?: readonly Outcome[];
  /** Whether refusals before anything is executed are what the scenario is about. */
  readonly isRefused?: boolean;
  /** How long each response may take; not limited by default, because scenarios hold connections on purpose. */
  readonly maxReplyMs?: number;
  send(target: Target): Promise<readonly Result[]>;
}

const maxPeakMiB = 500;

/** Codes with which a request is refused before it is executed. */
const refusedAtOnce: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'PAYLOAD_TOO_LARGE']);

const creation = `mutation ($properties: JSON!) { result: getOrCreateUserGroup(input: { providedId: "large", properties: $properties }) {
  ... on GetOrCreateUserGroupPayload { userGroup { id teamId } } ... on Error { code message } } }`;

/** Sends hostile requests to a gateway, and checks responses and memory, and that it serves an ordinary request afterwards. */
export const hostile = (requests: HostileRequests): Scenario => ({
  name: requests.name,
  summary: requests.summary,
  async run(context) {
    const { figure, expect } = context;
    const { expects = ['4xx'], someExpect = expects, isRefused = false, maxReplyMs = Number.POSITIVE_INFINITY } = requests;
    const instance = new Instance(context);
    const gateway = await instance.start();
    const { port, pid } = gateway;
    const token = await instance.createToken(port);
    const created = await sendGraphQL(port, creation, { properties: { text: 'x'.repeat(65_516) } }, { token });
    const large = created.json?.data?.result?.userGroup;
    if (!large) throw new Error(`The group with large properties was not created: ${created.text}`);

    const post: Target['post'] = async (options) => resultOf(await send(port, 'POST', '/graphql', options));
    // With this media type, a request that is not executed gets a 4xx.
    const headers = { accept: 'application/graphql-response+json' };
    const results = await requests.send({
      token,
      large,
      post,
      graphql: (body, of) => post({ body, token: of, headers }),
      openMany: (count, options) => openMany(port, count, options),
    });
    const peakMiB = residentMiB(pid, 'VmHWM') ?? 0;
    const ordinary = await sendGraphQL(port, `{ userGroup(by: {teamId: ${large.teamId}}) { name } }`, {}, { token });

    const slowestMs = Math.max(0, ...results.map(({ milliseconds }) => milliseconds));
    const unexpected = results.filter(({ outcome }) => !expects.includes(outcome));
    const reached = results.filter(({ code }) => isRefused || !refusedAtOnce.has(code));
    figure(`${summarize(results)}; at most ${Math.round(peakMiB)} MiB and ${seconds(slowestMs)} s`);
    expect(gateway.ended() === undefined, `the gateway ended: ${gateway.ended()}`);
    expect(
      ordinary.json?.data?.userGroup?.name === 'large',
      `an ordinary request afterwards: ${ordinary.status} ${ordinary.text}`,
    );
    expect(peakMiB < maxPeakMiB, `the memory grew to ${Math.round(peakMiB)} MiB`);
    expect(slowestMs <= maxReplyMs, `a response took ${seconds(slowestMs)} s`);
    expect(unexpected.length === 0, `${summarize(unexpected)}: ${unexpected[0]?.text.slice(0, 160)}`);
    expect(
      reached.some(({ outcome }) => someExpect.includes(outcome)),
      `no request was executed that got ${someExpect.join(' or ')}`,
    );
  },
});

/** Results by outcome and code. */
function summarize(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { outcome, code } of results) {
    const key = `${outcome} ${code}`.trimEnd();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => `${count} × ${key}`).join(', ');
}
