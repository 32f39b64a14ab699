import { endProcesses, launch, until } from '../test/support/process.ts';
import { encryptionKey } from './encryption.ts';
import type { WorkloadId } from './load/workloads.ts';

/** The systems that can be measured, the gateway first. */
export const systemIds = ['gateway', 'baseline', 'fastify', 'mercurius', 'yoga'] as const;

/** The name of a system; `previous` is another build of the gateway, which `--previous` adds. */
export type SystemId = (typeof systemIds)[number] | 'previous';

/** Whether a system supports a workload. */
export function supports(system: SystemId, workload: WorkloadId): boolean {
  if (system === 'fastify') return workload.startsWith('rest-');
  if (system === 'mercurius') return workload.startsWith('gql-');
  if (system === 'yoga') return workload === 'gql-token' || workload === 'gql-unseen';
  return true;
}

/** A running system. */
export interface Running {
  readonly system: SystemId;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<unknown>;
}

/** Starts a system as its users do. @param previous the folder of another build. @throws Error with its output if it ends. */
export async function startSystem(
  system: SystemId,
  settings: Readonly<Record<string, string>>,
  previous?: string,
): Promise<Running> {
  const isGateway = system === 'gateway' || system === 'previous';
  const args = isGateway ? ['dist/main.js', 'serve'] : [`bench/dist/bench/competitors/${system}.js`];
  const environment = { NODE_ENV: 'production', ENCRYPTION_KEYS: encryptionKey, ...settings };
  const options = system === 'previous' && previous !== undefined ? { cwd: previous } : {};
  const { child, output, ended } = launch(process.execPath, args, environment, options);
  const port = await until(() => {
    if (child.exitCode !== null) throw new Error(`${system} exited:\n${output.stderr}`);
    return /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output.stderr)?.[1];
  }, `${system} listens`);
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { system, port: Number(port), pid: child.pid ?? 0, stop };
}

/** Kills every process that this run started and that is still running. */
export const stopAll = endProcesses;
