import { generateEncryptionKey } from '../../src/encryption/key-texts.ts';
import { issueToken } from '../../src/tokens.ts';
import { type GatewayProcess, requireHandled, startGateway } from '../gateway.ts';
import { type Load, startLoad } from './load.ts';
import type { EventResult, ScenarioContext } from './scale-scenario.ts';

/** Gateways on one database. */
export interface Gateways {
  readonly processes: readonly GatewayProcess[];
  /** An API token of the scope `admin`. */
  readonly admin: string;
}

/** Starts gateways concurrently on one database; they end with the scenario. */
export async function startGateways(
  { folder, onEnd }: ScenarioContext,
  databaseUrl: string,
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Gateways> {
  const admin = issueToken('apiToken');
  const shared = {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: generateEncryptionKey(),
    PUBLIC_URL: 'http://gateways.example', // the issuer of embed tokens, which is the same for all
    ...settings,
  };
  const starts = Array.from({ length: count }, () => startGateway(folder, admin, shared));
  // Those that started are stopped even if another one did not.
  onEnd(async () => {
    const started = (await Promise.allSettled(starts)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    for (const gateway of started) await gateway.stop();
    for (const gateway of started) requireHandled(gateway);
  });
  return { processes: await Promise.all(starts), admin };
}

/** Starts the load on gateways; it ends with the scenario. */
export function startLoadOn({ onEnd }: ScenarioContext, { processes, admin }: Gateways): Load {
  const load = startLoad(
    processes.map(({ port }) => port),
    admin,
  );
  onEnd(() => load.stop());
  return load;
}

/** How long after an event the gateways must serve again. */
const recoveryTimeoutMs = 90_000;

/** Lets something happen under load, waits until every gateway serves again, and checks what was acknowledged. */
export async function runEvent(
  load: Load,
  { processes }: Gateways,
  event: string,
  act: () => Promise<unknown>,
): Promise<EventResult> {
  await load.untilServed(recoveryTimeoutMs);
  await load.report(); // what happened before
  await act();
  await load.untilServed(recoveryTimeoutMs);
  const report = await load.report();
  const failures = report.wrong.length > 0 ? processes.flatMap(({ errors }) => errors().slice(0, 3)) : [];
  return { event, report, failures, restarts: processes.filter((each) => each.ended() !== undefined).length };
}
