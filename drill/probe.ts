import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What other callers saw meanwhile. */
export interface Probes {
  readonly livezCount: number;
  /** The longest that a `/livez` took, on a new or on a kept connection, those included that are not answered yet. */
  readonly worstLivezMs: number;
  /** How many had no response, or another one than 200. */
  readonly livezFailures: number;
  /** Look-ups by another caller: sent, not answered with the group, the longest. */
  readonly requests: number;
  readonly refusedRequests: number;
  readonly worstRequestMs: number;
  /** What the last one that failed was answered. */
  readonly refusal: string;
  /** How late the prober itself was at most: that much of a latency may be its own. */
  readonly ownLagMs: number;
}

/** Sends `/livez` and another caller's look-up again and again, in a process of its own. */
export interface Prober {
  /** Forgets what was seen. */
  reset(): void;
  read(): Promise<Probes>;
  stop(): Promise<void>;
}

/** Starts to send; it ends by itself when the drill does. */
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
