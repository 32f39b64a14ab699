import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/support/process.ts';
import { isReady, send, sendGraphQL } from '../client.ts';
import { checkWriters } from '../faults/check-writers.ts';
import { startWriters } from '../faults/writers.ts';
import { Instance, withDatabase } from '../instance.ts';
import { type ScenarioContext, seconds } from '../scenario.ts';

/** What happens to a topology, and what must hold when it has. */
export interface ScaleEvent {
  readonly name: string;
  /** A text that it returns is a figure. */
  act(gateways: readonly number[], token: string): Promise<unknown>;
}

/** How long after an event every gateway must be ready. */
const recoveryTimeoutMs = 90_000;

/** Writes of each event. */
const writes = 60;

const gatewayCount = 3;

const issue = `mutation { result: createApiToken(input: { name: "drill", environmentTag: TESTING, scopes: [GROUPS_WRITE] }) {
  ... on CreateApiTokenPayload { secret apiToken { id } } } }`;
const revoke = `mutation ($id: ID!) { result: revokeApiToken(input: { id: $id }) { ... on RevokeApiTokenPayload { apiToken { id } } } }`;

/**
 * Starts three gateways at once on a database, with writers and a caller that revokes API tokens, and lets events happen. After
 * each, every gateway serves again by itself; at the end nothing that was acknowledged is lost, and what is revoked is refused.
 *
 * @param options `directUrl` is read at the end.
 */
export async function runUnderLoad(
  context: ScenarioContext,
  databaseUrl: string,
  events: readonly ScaleEvent[],
  { directUrl = databaseUrl, settings = {} }: { directUrl?: string; settings?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const { figure, expect } = context;
  const instance = new Instance(context, { DATABASE_URL: databaseUrl, ...settings });
  const gateways = await Promise.all(Array.from({ length: gatewayCount }, () => instance.start()));
  const ports = gateways.map(({ port }) => port);
  const token = await instance.createToken(ports[0] as number);
  let turn = 0;
  const port = () => ports[turn++ % gatewayCount] as number;
  const writers = startWriters(port, token, context);
  const revoking = startRevoking(context, instance, ports);
  for (const { name, act } of [{ name: 'calm', act: async () => {} }, ...events]) {
    await writers.more(writes);
    writers.longestPauseMs = 0;
    const note = await act(ports, token);
    await until(async () => (await Promise.all(ports.map(isReady))).every(Boolean), `ready after: ${name}`, recoveryTimeoutMs);
    await writers.more(writes);
    figure(
      [`${name}: ${seconds(writers.longestPauseMs)} s without writes`, ...(typeof note === 'string' ? [note] : [])].join(', '),
    );
  }
  await revoking.check();
  await checkWriters(context, writers, { withDatabase: (use) => withDatabase(directUrl, use) });
  figure(`${writers.refused} requests got 503 with Retry-After`);
  const ended = gateways.filter((each) => each.ended() !== undefined).length;
  expect(ended === 0, `${ended} gateways ended`);
}

/** Revokes API tokens again and again, and tries on every gateway those that were revoked. */
function startRevoking({ onEnd, figure, expect }: ScenarioContext, { admin }: Instance, ports: readonly number[]) {
  const revoked: string[] = [];
  let admitted = 0;
  let isOver = false;
  const use = async (port: number, token: string) => {
    const { status } = await send(port, 'GET', '/api/user', { token, body: { user_group_id: 'by a revoked token' } });
    if (status === 200) admitted += 1;
    return status;
  };
  const mutate = async (port: number, text: string, variables: object) =>
    (await sendGraphQL(port, text, variables, { token: admin })).json?.data?.result;
  const work = async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const port = ports[turn % ports.length] as number;
      const issued = await mutate(port, issue, {});
      if (issued?.secret && (await mutate(port, revoke, { id: issued.apiToken.id }))?.apiToken) revoked.push(issued.secret);
      const earlier = revoked[Math.floor(Math.random() * revoked.length)];
      for (const secret of [revoked.at(-1), earlier]) if (secret) await Promise.all(ports.map((each) => use(each, secret)));
      await pause(20);
    }
  };
  const working = work();
  const stop = async () => {
    isOver = true;
    await working;
  };
  onEnd(stop);
  return {
    async check() {
      await stop();
      const refused = await Promise.all(revoked.map((secret, index) => use(ports[index % ports.length] as number, secret)));
      figure(`${revoked.length} API tokens revoked, ${admitted} times one of them was admitted`);
      expect(revoked.length > 0 && refused.every((status) => status === 401), `a revoked API token got ${refused.join(', ')}`);
      expect(admitted === 0, `a revoked API token was admitted ${admitted} times`);
    },
  };
}
