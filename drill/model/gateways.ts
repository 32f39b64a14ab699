import type { Requester } from '../../test/support/model.ts';
import { callers } from '../../test/support/model-operations.ts';
import { createAgent, type Reply, sendGraphQL } from '../client.ts';
import type { RowContext } from '../faults/fault-row.ts';
import { endGateway, Instance } from '../faults/instance.ts';
import type { GatewayProcess } from '../gateway.ts';
import { until } from '../wait.ts';

/** How many gateways share the database. */
export const gatewayCount = 3;

const createToken = `mutation ($tag: EnvironmentTag) {
  result: createApiToken(input: { name: "model", environmentTag: $tag, scopes: ["groups:read", "groups:write"] }) {
    ... on CreateApiTokenPayload { secret } ... on Error { code message }
  }
}`;

/** Gateways on one database, each of which can be killed and started again. */
export interface Gateways {
  readonly instance: Instance;
  /** Sends an operation to one of them as one of the {@link callers}. */
  send(gateway: number, caller: number, query: string, variables: object, idempotencyKey?: string): Promise<Reply>;
  kill(gateway: number): Promise<void>;
  restart(gateway: number): Promise<void>;
  /** Waits until no statement of a killed gateway is being executed any more. */
  settle(): Promise<void>;
}

/** Starts them, and creates the API tokens of the callers. They end with the row. */
export async function startGateways(context: RowContext): Promise<Gateways> {
  const instance = new Instance(context);
  const processes: GatewayProcess[] = [await instance.start()];
  while (processes.length < gatewayCount) processes.push(await instance.start());
  const agent = createAgent();
  context.onEnd(() => agent.destroy());
  const portOf = (gateway: number) => processes[gateway]?.port ?? 0;
  const secrets: string[] = [];
  for (const { tag, admin } of callers) secrets.push(admin ? instance.admin : await issue({ tag, admin }));

  async function issue({ tag }: Requester): Promise<string> {
    const { json, text } = await sendGraphQL(portOf(0), createToken, { tag }, { token: instance.admin });
    if (!json?.data?.result?.secret) throw new Error(`No API token was created: ${text}`);
    return json.data.result.secret;
  }

  return {
    instance,
    send: (gateway, caller, query, variables, idempotencyKey) =>
      sendGraphQL(portOf(gateway), query, variables, {
        ...{ token: secrets[caller] ?? '', agent },
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      }),
    async kill(gateway) {
      await endGateway(processes[gateway] as GatewayProcess, 'SIGKILL');
    },
    async restart(gateway) {
      processes[gateway] = await instance.start();
    },
    settle: () =>
      instance.withDatabase(async ({ pool }) => {
        const busy = `select from pg_stat_activity
          where application_name = 'user-group-gateway' and state <> 'idle' and pid <> pg_backend_pid()`;
        await until(async () => (await pool.query(busy)).rowCount === 0, 'statements of the killed gateway end');
      }),
  };
}
