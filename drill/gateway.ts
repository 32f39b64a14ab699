import { binary, launch, untilServing } from '../test/support/process.ts';

/** A gateway in a process of its own, as operators run it. */
export interface GatewayProcess {
  readonly port: number;
  readonly pid: number;
  /** Its log so far. */
  log(): string;
  /** The lines of its log about errors. */
  errors(): string[];
  /** The lines of its log about failures that no code has handled: each is a defect. */
  unhandled(): string[];
  /** How it exited, if it has. */
  ended(): string | undefined;
  /** Stops it gracefully, or if that takes too long, kills it. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 10_000;

/**
 * Starts `serve` and waits until it listens.
 *
 * @param settings further settings, such as `DATABASE_URL`.
 * @throws Error with its log when it exits instead.
 */
export async function startGateway(
  dataDir: string,
  apiToken: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const environment = { DATA_DIR: dataDir, LOG_LEVEL: 'info', BOOTSTRAP_API_TOKEN: apiToken, ...settings };
  const running = launch(process.execPath, [binary, 'serve'], environment);
  const { child, output, url, stop } = await untilServing(running);
  const linesWith = (text: string) => output.stderr.split('\n').filter((line) => line.includes(text));
  return {
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    log: () => output.stderr,
    errors: () => linesWith('"level":"error"'),
    unhandled: () => linesWith('"msg":"a failure was not handled'),
    ended: () => child.signalCode ?? (child.exitCode === null ? undefined : `exit status ${child.exitCode}`),
    async stop() {
      const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      await stop();
      clearTimeout(late);
    },
  };
}

/** @throws Error when a gateway has logged a failure that no code has handled. */
export function requireHandled(gateway: GatewayProcess): void {
  const [first] = gateway.unhandled();
  if (first) throw new Error(`a gateway logged a failure that was not handled: ${first}`);
}
