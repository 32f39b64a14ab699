import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What other callers experience during a scenario. */
export interface Probes {
  readonly livezCount: number;
  /** The longest duration of a `GET /livez`, on a new or an existing connection, including pending ones. */
  readonly worstLivezMs: number;
  /** How many had no response, or one other than 200. */
  readonly livezFailures: number;
  /** Look-ups by another caller: how many ended, how many of them failed, the longest duration, including pending ones. */
  readonly requests: number;
  readonly failedRequests: number;
  readonly worstRequestMs: number;
  /** The response to the last one that failed. */
  readonly failure: string;
  /** The maximum lag of the prober itself: that much of a latency may be its own. */
  readonly ownLagMs: number;
}

/** Sends `GET /livez` and another caller's look-up repeatedly, in a separate process. */
export interface Prober {
  /** Resets the results. */
  reset(): void;
  read(): Promise<Probes>;
  stop(): Promise<void>;
}

/** Starts the prober; it exits when the drill does. */
export async function startProber(port: number, token: string, groupToken: string): Promise<Prober> {
  const file = fileURLToPath(new URL('prober.ts', import.meta.url));
  const child = fork(file, [String(port), token, groupToken], { execArgv: ['--import', 'tsx'] });
  await once(child, 'message');
  return {
    reset: () => void child.send('reset'),
    async read() {
      child.send('read');
      const [probes] = await once(child, 'message');
      return probes as Probes;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
