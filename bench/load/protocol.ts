import type { Environment } from './rows.ts';
import type { WorkloadId } from './workloads.ts';

/** An API token to send. */
export interface Credential {
  readonly secret: string;
  readonly environment: Environment;
}

/** Registers the groups of a database with the load generator. */
interface Learn {
  readonly kind: 'learn';
  readonly database: string;
  /** The file with the concatenated tokens. */
  readonly file: string;
}

/** Requests a measurement. */
export interface Run {
  readonly kind: 'run';
  readonly database: string;
  readonly workload: WorkloadId;
  readonly port: number;
  /** The process to measure. */
  readonly pid: number;
  /** PostgreSQL's main process, if it can be determined. */
  readonly databasePid: number | undefined;
  readonly credentials: readonly Credential[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** One response in this many is parsed and compared; 0 for a server with a constant response. */
  readonly sampleEvery: number;
}

/** Requests some groups as they must be stored now. */
export interface Recall {
  readonly kind: 'recall';
  readonly database: string;
  readonly count: number;
}

/** A request to the load generator. */
export type Order = Learn | Run | Recall;

/** The result of one measurement. */
export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the server's process; `undefined` if the system does not report it. */
  readonly cpuMicrosecondsPerRequest: number | undefined;
  /** The same of all of PostgreSQL's processes. */
  readonly databaseMicrosecondsPerRequest: number | undefined;
  /** The peak memory of the server's process during the measurement. */
  readonly rssMiB: number | undefined;
  /** The utilization of the load generator itself, 0 to 1: near 1, it is the bottleneck. */
  readonly generatorLoad: number;
  /** The number of responses, including those of the warm-up, and how many were compared completely. */
  readonly responses: number;
  readonly compared: number;
}

/** What must be stored of a group: its token, and the number that its last update wrote; 0 for none. */
export interface Recalled {
  readonly index: number;
  readonly token: string;
  readonly revision: number;
}

/** A reply of the load generator. */
export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'measured'; readonly measurement: Measurement }
  | { readonly kind: 'recalled'; readonly groups: readonly Recalled[] }
  | { readonly kind: 'failed'; readonly message: string };
